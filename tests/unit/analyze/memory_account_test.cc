// The account of a device's memory, in small cases by hand. Parts must add up to NVML's value.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "present/answer/analyses.h"
#include "tests/unit/analyze/memory_draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

// Bytes of a part; absent if the device has no such row, summed over its rows otherwise.
std::optional<std::int64_t> part(const ReadTable& table, std::string_view name, std::int64_t device = 0) {
    std::optional<std::int64_t> sum;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.integer(row, "device") == device && table.text(row, "part") == name)
            sum = sum.value_or(0) + table.integer(row, "bytes");
    return sum;
}

void expect_sums(const ReadTable& table) {
    std::map<std::int64_t, std::int64_t> sums, used;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        std::string name = table.text(row, "part");
        if (name != "free") (name == "used" ? used : sums)[table.integer(row, "device")] += table.integer(row, "bytes");
    }
    EXPECT_EQ(sums, used);
}

// One process of 1000 MiB: 300 of context, 600 reserved by the framework of which 450 are in use, a workspace of 100.
MemoryDraft one_process() {
    MemoryDraft draft;
    draft.process("p", 42);
    draft.work("p", 0, 0, 100 * kMillisecond);
    draft.call("p", 0, 10 * kMillisecond, 0x10000000, 600 * kMiB);
    draft.block("p", 0, 11 * kMillisecond, 0x10000000, 450 * kMiB, 450 * kMiB, 600 * kMiB);
    draft.call("p", 0, 12 * kMillisecond, 0x90000000, 100 * kMiB);
    draft.op("p", 20 * kMillisecond, 90 * kMillisecond, "aten::mm");
    draft.sample("mem.total", 0, 50 * kMillisecond, 2000);
    draft.used(0, 50 * kMillisecond, 1300 * kMiB);
    return draft;
}

TEST(MemoryAccount, PartsOfOneProcess) {
    MemoryDraft draft = one_process();
    draft.used(0, 50 * kMillisecond, 1000 * kMiB, 42);
    draft.used(0, 50 * kMillisecond, 200 * kMiB, 43);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "allocated by the framework"), 450 * kMiB);
    EXPECT_EQ(part(table, "cached by the framework"), 150 * kMiB);
    EXPECT_EQ(part(table, "CUDA allocations"), 100 * kMiB);
    EXPECT_EQ(part(table, "rest of the process"), 300 * kMiB);
    EXPECT_EQ(part(table, "other process"), 200 * kMiB);
    EXPECT_EQ(part(table, "rest of the device"), 100 * kMiB);
    EXPECT_EQ(part(table, "free"), 700 * kMiB);
    EXPECT_EQ(part(table, "not attributed"), std::nullopt);
    EXPECT_TRUE(table.notes().empty());
}

TEST(MemoryAccount, WithoutProcessesOneRemainderSaysSo) {
    MemoryDraft draft = one_process();
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "not attributed"), 600 * kMiB);
    EXPECT_EQ(part(table, "other process"), std::nullopt);
    EXPECT_EQ(table.text(table.find("part", "not attributed"), "evidence"), "no memory per process was sampled");
}

// A MIG instance, WSL: processes are listed with their use of the SMs, without memory.
TEST(MemoryAccount, ProcessesWithoutMemory) {
    MemoryDraft draft = one_process();
    draft.sample("util.gpu", 0, 50 * kMillisecond, 80, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "rest of the process"), std::nullopt);
    EXPECT_NE(table.text(table.find("part", "not attributed"), "evidence").find("MIG"), std::string::npos);
}

// In a container NVML may list the ids of the host: the recorded process must not count as another one.
TEST(MemoryAccount, ARecordedProcessUnderAnotherId) {
    MemoryDraft draft = one_process();
    draft.used(0, 50 * kMillisecond, 1000 * kMiB, 31337);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "other process"), std::nullopt);
    EXPECT_EQ(part(table, "not attributed"), 600 * kMiB);
    EXPECT_NE(table.text(table.find("part", "not attributed"), "evidence").find("lacks process 42"), std::string::npos);
}

// The sample of the process is of 5 ms before: less than was recorded. Nothing is clipped, and the shift is said.
TEST(MemoryAccount, ANegativeRestIsSaid) {
    MemoryDraft draft = one_process();
    draft.call("p", 0, 48 * kMillisecond, 0xa0000000, 500 * kMiB);
    draft.used(0, 50 * kMillisecond, 1000 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    std::size_t row = table.find("part", "rest of the process");
    EXPECT_EQ(table.integer(row, "bytes"), -200 * kMiB);
    EXPECT_GE(table.integer(row, "uncertain_bytes"), 500 * kMiB);
    EXPECT_NE(table.text(row, "evidence").find("2.00 ms earlier"), std::string::npos) << table.text(row, "evidence");
    ASSERT_EQ(table.notes().size(), 1u);
}

TEST(MemoryAccount, SamplesAlone) {
    MemoryDraft draft;
    draft.used(0, 0, 900 * kMiB);
    draft.used(0, 10, 1000 * kMiB);
    draft.used(0, 10, 600 * kMiB, 7);
    draft.used(1, 10, 5 * kMiB);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "other process"), 600 * kMiB);
    EXPECT_EQ(part(table, "rest of the device"), 400 * kMiB);
    EXPECT_EQ(part(table, "not attributed", 1), 5 * kMiB);
    ReadTable curve(trace, "memory_curve");
    EXPECT_EQ(curve.rows(), 3u);
    EXPECT_TRUE(curve.absent(0, "allocated_bytes"));
}

TEST(MemoryAccount, AllocationsAlone) {
    MemoryDraft draft;
    draft.block("", 0, 10, 0x1000, 4 * kMiB, 4 * kMiB, 20 * kMiB);
    draft.block("", 0, 20, 0x1000, -4 * kMiB, 0, 20 * kMiB);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    EXPECT_EQ(table.rows(), 2u);
    EXPECT_EQ(part(table, "allocated by the framework"), 4 * kMiB);
    EXPECT_EQ(part(table, "cached by the framework"), 16 * kMiB);
    EXPECT_EQ(part(table, "used"), std::nullopt);
    EXPECT_FALSE(table.notes().empty());
    EXPECT_EQ(ReadTable(trace, "memory_curve").rows(), 0u);
}

TEST(MemoryAccount, ReleasesWithoutAllocations) {
    MemoryDraft draft;
    draft.process("p", 42);
    draft.work("p", 0, 0, 100 * kMillisecond);
    draft.call("p", 0, 10 * kMillisecond, 0x1000, -64 * kMiB);
    draft.call("p", 0, 20 * kMillisecond, 0x2000, -64 * kMiB);
    draft.call("p", 0, 30 * kMillisecond, 0x3000, 10 * kMiB);
    draft.used(0, 50 * kMillisecond, 400 * kMiB);
    draft.used(0, 50 * kMillisecond, 400 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "CUDA allocations"), 10 * kMiB);
    EXPECT_EQ(part(table, "rest of the process"), 390 * kMiB);
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("2 releases"), std::string::npos);
}

// Its residency is unknown, so it must not be subtracted.
TEST(MemoryAccount, ManagedMemoryIsNoPart) {
    MemoryDraft draft;
    draft.process("p", 42);
    draft.work("p", 0, 0, 100 * kMillisecond);
    draft.call("p", 0, 10 * kMillisecond, 0x1000, 4096 * kMiB, "managed");
    draft.used(0, 50 * kMillisecond, 700 * kMiB);
    draft.used(0, 50 * kMillisecond, 700 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "rest of the process"), 700 * kMiB);
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("4.00 GiB of managed memory"), std::string::npos);
}

// Equal addresses in two processes are different memory.
TEST(MemoryAccount, TwoProcessesOnOneDevice) {
    MemoryDraft draft;
    for (std::int64_t pid : {41, 42}) {
        std::string key = std::to_string(pid);
        draft.process(key, pid);
        draft.work(key, 0, 0, 100 * kMillisecond);
        draft.call(key, 0, 10 * kMillisecond, 0x1000, pid * kMiB);
    }
    draft.call("41", 0, 20 * kMillisecond, 0x1000, -41 * kMiB);
    draft.used(0, 50 * kMillisecond, 500 * kMiB);
    draft.used(0, 50 * kMillisecond, 200 * kMiB, 41);
    draft.used(0, 50 * kMillisecond, 300 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "CUDA allocations"), 42 * kMiB);
    EXPECT_EQ(part(table, "rest of the process"), 458 * kMiB);
    EXPECT_EQ(part(table, "rest of the device"), 0);
}

// The allocator reports what it reserved with its next block only; a released segment must not be taken from a library.
TEST(MemoryAccount, ASegmentReleasedWithoutAnEvent) {
    MemoryDraft draft = one_process();
    draft.call("p", 0, 13 * kMillisecond, 0x50000000, 200 * kMiB);
    draft.block("p", 0, 14 * kMillisecond, 0x50000000, 10 * kMiB, 460 * kMiB, 800 * kMiB);
    draft.block("p", 0, 15 * kMillisecond, 0x50000000, -10 * kMiB, 450 * kMiB, 800 * kMiB);
    draft.call("p", 0, 30 * kMillisecond, 0x50000000, -200 * kMiB);
    draft.used(0, 50 * kMillisecond, 1000 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "cached by the framework"), 150 * kMiB);
    EXPECT_EQ(part(table, "CUDA allocations"), 100 * kMiB);
    EXPECT_EQ(table.integer(table.find("part", "CUDA allocations"), "uncertain_bytes"), 0);
    EXPECT_EQ(part(table, "rest of the process"), 300 * kMiB);
}

// Two tools that recorded one process name it differently; its pid says that it is one.
TEST(MemoryAccount, OneProcessRecordedByTwoTools) {
    MemoryDraft draft = one_process();
    draft.process("trace.json/42", 42);
    draft.work("trace.json/42", 0, 20 * kMillisecond, 90 * kMillisecond);
    draft.call("p", 0, 30 * kMillisecond, 0xc0000000, 40 * kMiB);
    draft.block("trace.json/42", 0, 31 * kMillisecond, 0xc0000000, 4 * kMiB, 454 * kMiB, 640 * kMiB);
    draft.block("trace.json/42", 0, 60 * kMillisecond, 0xc0000000, -4 * kMiB, 450 * kMiB, 640 * kMiB);
    draft.used(0, 50 * kMillisecond, 1100 * kMiB, 42);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory_account");
    expect_sums(table);
    EXPECT_EQ(part(table, "CUDA allocations"), 100 * kMiB);
    EXPECT_EQ(part(table, "cached by the framework"), 186 * kMiB);
    EXPECT_EQ(part(table, "rest of the process"), 360 * kMiB);
}

TEST(MemoryAccount, AtAMoment) {
    MemoryDraft draft;
    draft.draft().range("main", 0, 100 * kMillisecond, "all");
    draft.used(0, 10 * kMillisecond, 100 * kMiB);
    draft.used(0, 20 * kMillisecond, 300 * kMiB);
    draft.used(0, 30 * kMillisecond, 200 * kMiB);
    Trace trace = draft.finish();
    EXPECT_EQ(part(ReadTable(trace, "memory_account"), "not attributed"), 300 * kMiB);
    Options options;
    options.at = "28ms";
    EXPECT_EQ(part(ReadTable(trace, "memory_account", options), "not attributed"), 200 * kMiB);
    options.at = "-1ms";
    EXPECT_EQ(part(ReadTable(trace, "memory_account", options), "not attributed"), 100 * kMiB);
    for (const char* wrong : {"soon", "--1", "-", "1.5 h", "nan", "1e300"}) {
        options.at = wrong;
        Facts facts(trace, options);
        Result<ResultTable> result = find_analysis("memory_account")->run(facts);
        ASSERT_FALSE(result.ok()) << wrong;
        EXPECT_NE(result.error().message.find(wrong), std::string::npos);
    }
}

TEST(MemoryAccount, WorkspacesAreAllocationsToo) {
    MemoryDraft draft = one_process();
    RangeTable& ranges = draft.draft().tables().range;
    Row row = ranges.add();
    ranges.start.set(row, 11 * kMillisecond);
    ranges.dur.set(row, 2 * kMillisecond);
    ranges.name.set(row, draft.draft().intern("cublasCreate"));
    ranges.thread.set(row, draft.draft().intern("p/1"));
    Trace trace = draft.finish();
    ReadTable table(trace, "allocations");
    ASSERT_EQ(table.rows(), 1u);  // the workspace is younger than the framework's peak
    Options options;
    options.at = "50ms";
    ReadTable later(trace, "allocations", options);
    ASSERT_EQ(later.rows(), 2u);
    EXPECT_EQ(later.integer(0, "bytes"), 450 * kMiB);
    EXPECT_EQ(later.text(1, "owner"), "cublasCreate");
    EXPECT_EQ(later.integer(1, "bytes"), 100 * kMiB);
    EXPECT_EQ(later.text(1, "category"), "device");
    options.between = "11.5ms:50ms";
    ReadTable growth(trace, "growth", options);
    ASSERT_EQ(growth.rows(), 2u);
    EXPECT_EQ(growth.integer(0, "grown_bytes"), 100 * kMiB);
    EXPECT_EQ(growth.integer(1, "grown_bytes"), 0);
    for (const char* wrong : {"1", "2:1", "1:1", ":", "a:b", "1:2:3"}) {
        options.between = wrong;
        Facts facts(trace, options);
        EXPECT_FALSE(find_analysis("growth")->run(facts).ok()) << wrong;
    }
}

}  // namespace
}  // namespace gpuprof
