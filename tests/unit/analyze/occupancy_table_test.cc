// `occupancy`: launches grouped by shape, from the timeline and from kernel profilers, computed as recorded and with changes.
#include <gtest/gtest.h>

#include "present/answer/analyses.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

void add_h200(Draft& draft) {
    DeviceTable& table = draft.tables().device;
    Row row = table.add();
    table.device.set(row, 0);
    table.cc_major.set(row, 9);
    table.cc_minor.set(row, 0);
    table.sms.set(row, 132);
}

Row add_kernel(Draft& draft, std::string_view name, TimeNs start, DurNs dur, int threads, int registers,
               std::int64_t shared) {
    Row row = draft.kernel(0, 7, start, start + dur, name);
    KernelTable& table = draft.tables().kernel;
    table.block_x.set(row, threads);
    table.block_y.set(row, 1);
    table.block_z.set(row, 1);
    table.registers.set(row, registers);
    table.shared_bytes.set(row, shared);
    return row;
}

Row add_profiled(Draft& draft, std::int64_t launch, std::string_view name, DurNs dur, int threads) {
    ProfiledKernelTable& table = draft.tables().profiled_kernel;
    Row row = table.add();
    table.launch.set(row, launch);
    table.name.set(row, draft.intern(name));
    table.device.set(row, 0);
    table.dur.set(row, dur);
    table.block_x.set(row, threads);
    table.block_y.set(row, 1);
    table.block_z.set(row, 1);
    table.cc_major.set(row, 9);
    table.cc_minor.set(row, 0);
    return row;
}

void add_metric(Draft& draft, std::int64_t launch, std::string_view metric, double value, std::string_view unit = "") {
    KernelCounterTable& table = draft.tables().kernel_counter;
    Row row = table.add();
    table.launch.set(row, launch);
    table.metric.set(row, draft.intern(metric));
    if (!unit.empty()) table.unit.set(row, draft.intern(unit));
    table.value.set(row, value);
}

ResultTable occupancy_of(const Trace& trace, const Options& options = {}) {
    Facts facts(trace, options);
    Result<ResultTable> table = find_analysis("occupancy")->run(facts);
    EXPECT_TRUE(table.ok());
    return std::move(table).value();
}

std::string text(const ResultTable& table, std::size_t row, std::string_view column) {
    Cell cell = table.cell(row, table.column(column));
    return std::holds_alternative<std::string_view>(cell) ? std::string(std::get<std::string_view>(cell)) : "";
}
std::optional<double> number(const ResultTable& table, std::size_t row, std::string_view column) {
    Cell cell = table.cell(row, table.column(column));
    if (std::holds_alternative<double>(cell)) return std::get<double>(cell);
    if (std::holds_alternative<std::int64_t>(cell)) return static_cast<double>(std::get<std::int64_t>(cell));
    return std::nullopt;
}

TEST(OccupancyTable, HasOneRowPerNameAndShape) {
    Draft draft;
    add_h200(draft);
    add_kernel(draft, "a", 0, 100, 128, 39, 24);
    add_kernel(draft, "a", 200, 100, 128, 39, 24);
    add_kernel(draft, "a", 400, 500, 256, 39, 24);
    add_kernel(draft, "b", 1000, 50, 256, 32, 0);
    draft.kernel(0, 7, 2000, 3000, "without a shape");
    Trace trace = draft.finish();
    ResultTable table = occupancy_of(trace);
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(text(table, 0, "block"), "256,1,1");
    EXPECT_EQ(number(table, 0, "total_ns"), 500);
    EXPECT_EQ(text(table, 1, "block"), "128,1,1");
    EXPECT_EQ(number(table, 1, "launches"), 2);
    EXPECT_EQ(number(table, 1, "occupancy_pct"), 75);
    EXPECT_EQ(text(table, 1, "limiter"), "registers");
    EXPECT_EQ(text(table, 1, "raised_by"), "at most 32 registers: 100.0 %");
    EXPECT_EQ(text(table, 2, "name"), "b");
    EXPECT_EQ(number(table, 2, "occupancy_pct"), 100);
    EXPECT_EQ(text(table, 2, "raised_by"), "");
    EXPECT_FALSE(number(table, 0, "changed_pct"));
    EXPECT_TRUE(table.notes.empty());
}

TEST(OccupancyTable, TriesOtherShapes) {
    Draft draft;
    add_h200(draft);
    add_kernel(draft, "a", 0, 100, 64, 38, 40000);
    Trace trace = draft.finish();
    Options options;
    options.shared_bytes = 20000;
    EXPECT_EQ(number(occupancy_of(trace, options), 0, "changed_pct"), 34.375);  // 11 blocks of 2 warps
    options.threads = 256;
    EXPECT_EQ(number(occupancy_of(trace, options), 0, "changed_pct"), 75);  // registers: 6 blocks of 8 warps
    options.registers = 32;
    EXPECT_EQ(number(occupancy_of(trace, options), 0, "changed_pct"), 100);
    options.threads = 2048;
    EXPECT_EQ(text(occupancy_of(trace, options), 0, "changed_limiter"), "block too large");
    options.threads = 0;
    options.cluster = 32;
    EXPECT_EQ(text(occupancy_of(trace, options), 0, "changed_limiter"), "cluster too large");
    EXPECT_EQ(number(occupancy_of(trace, options), 0, "occupancy_pct"), 15.625);
}

TEST(OccupancyTable, ReadsTheResourcesOfProfiledLaunches) {
    Draft draft;
    add_profiled(draft, 0, "metrics", 500, 64);
    add_metric(draft, 0, "launch__registers_per_thread", 38);
    add_metric(draft, 0, "launch__shared_mem_per_block_static", 4.224, "Kbyte/block");
    add_metric(draft, 0, "launch__shared_mem_per_block_dynamic", 35776, "byte/block");
    add_metric(draft, 0, "launch__barrier_count", 7);
    add_metric(draft, 0, "launch__cluster_size", 2);
    Row row = add_profiled(draft, 1, "columns", 100, 128);
    draft.tables().profiled_kernel.registers.set(row, 39);
    draft.tables().profiled_kernel.shared_bytes.set(row, 24);
    add_profiled(draft, 2, "neither", 50, 128);
    Trace trace = draft.finish();
    ResultTable table = occupancy_of(trace);
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(number(table, 0, "shared_bytes"), 40000);
    EXPECT_EQ(number(table, 0, "barriers"), 7);
    EXPECT_EQ(number(table, 0, "cluster_blocks"), 2);
    EXPECT_EQ(number(table, 0, "occupancy_pct"), 15.625);
    EXPECT_EQ(text(table, 0, "source"), "profiler");
    EXPECT_EQ(number(table, 1, "occupancy_pct"), 75);
    EXPECT_FALSE(number(table, 2, "occupancy_pct"));
    ASSERT_EQ(table.notes.size(), 1u);
}

// A kernel profiler's launch of a shape on the timeline adds what only it knows, but no launches.
TEST(OccupancyTable, CompletesTheTimelineFromAProfiler) {
    Draft draft;
    add_h200(draft);
    Row kernel = add_kernel(draft, "a", 0, 100, 64, 32, 0);
    KernelTable& kernels = draft.tables().kernel;
    kernels.cluster_x.set(kernel, 2);
    kernels.cluster_y.set(kernel, 1);
    kernels.cluster_z.set(kernel, 1);
    Row row = add_profiled(draft, 0, "a", 900, 64);
    ProfiledKernelTable& table = draft.tables().profiled_kernel;
    table.registers.set(row, 32);
    table.shared_bytes.set(row, 0);
    table.cluster_size.set(row, 2);
    add_metric(draft, 0, "launch__barrier_count", 6);
    Trace trace = draft.finish();
    ResultTable result = occupancy_of(trace);
    ASSERT_EQ(result.rows(), 1u);
    EXPECT_EQ(number(result, 0, "launches"), 1);
    EXPECT_EQ(number(result, 0, "total_ns"), 100);
    EXPECT_EQ(text(result, 0, "source"), "timeline");
    EXPECT_EQ(text(result, 0, "limiter"), "barriers");
    EXPECT_EQ(number(result, 0, "blocks_per_sm"), 10);
    EXPECT_EQ(number(result, 0, "max_clusters"), 660);
}

TEST(OccupancyTable, SaysWhatIsMissing) {
    Draft draft;
    draft.kernel(0, 7, 0, 100, "a");
    Trace trace = draft.finish();
    ResultTable table = occupancy_of(trace);
    EXPECT_EQ(table.rows(), 0u);
    ASSERT_EQ(table.notes.size(), 1u);
    EXPECT_EQ(table.notes[0], "No launch shapes were recorded; gpu-profile record and ncu --page raw record them.");
}

}  // namespace
}  // namespace gpuprof
