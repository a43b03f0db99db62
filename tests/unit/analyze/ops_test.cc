// `ops` on small trees, one rule of PyTorch's averages at a time. tests/python/files/test_oracle_ops.py compares the whole table
// with PyTorch's.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void annotate(Draft& draft, TimeNs start, TimeNs end, std::string_view name, std::int64_t id) {
    Row row = draft.range("main", start, end, name, id);
    draft.tables().range.domain.set(row, draft.intern("user_annotation"));
}

struct Wanted {
    std::int64_t count, cpu_total, cpu_self, device_total, device_self;
};

void expect(const ReadTable& table, std::string_view name, const Wanted& wanted) {
    std::size_t row = table.find("name", name);
    EXPECT_EQ(table.integer(row, "count"), wanted.count) << name;
    EXPECT_EQ(table.integer(row, "cpu_total_ns"), wanted.cpu_total) << name;
    EXPECT_EQ(table.integer(row, "cpu_self_ns"), wanted.cpu_self) << name;
    EXPECT_EQ(table.integer(row, "device_total_ns"), wanted.device_total) << name;
    EXPECT_EQ(table.integer(row, "device_self_ns"), wanted.device_self) << name;
}

TEST(Ops, SelfTotalAndFoldedSteps) {
    Draft draft;
    for (int i = 0; i < 2; ++i) {
        TimeNs at = 1000 * i;
        annotate(draft, at, at + 500, i == 0 ? "ProfilerStep#7" : "ProfilerStep#8", 10 * i + 1);
        draft.op("main", at + 10, at + 110, "aten::linear", 10 * i + 2);
        draft.op("main", at + 20, at + 90, "aten::mm", 10 * i + 3);
        draft.call("main", at + 30, at + 40, "cudaLaunchKernel", 100 + i, 10 * i + 3);
        draft.kernel(0, 7, at + 60, at + 360, "gemm", 100 + i, 10 * i + 3);
    }
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    ASSERT_EQ(table.rows(), 3u);
    expect(table, "aten::mm", {2, 140, 120, 600, 600});  // the call is its child
    expect(table, "aten::linear", {2, 200, 60, 600, 0});
    expect(table, "ProfilerStep*", {2, 1000, 800, 600, 0});
    EXPECT_TRUE(table.notes().empty());
    EXPECT_TRUE(table.absent(0, "device_mem_bytes"));
}

TEST(Ops, AWrapperOfTheSameNameIsOneCall) {
    Draft draft;
    draft.op("main", 0, 100, "aten::sum", 1);
    draft.op("main", 10, 90, "aten::sum", 2);
    draft.op("main", 20, 30, "aten::fill_", 3);
    draft.op("main", 200, 300, "aten::add", 4);  // two children of its name: not a wrapper
    draft.op("main", 210, 220, "aten::add", 5);
    draft.op("main", 230, 240, "aten::add", 6);
    draft.kernel(0, 7, 50, 60, "reduce", 1, 2);
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    expect(table, "aten::sum", {1, 100, 90, 10, 10});
    expect(table, "aten::add", {3, 120, 100, 0, 0});
}

TEST(Ops, OverheadIsCreditedAgainAndSaidSo) {
    Draft draft;
    draft.op("main", 0, 100, "aten::mul", 1);
    draft.kernel(0, 7, 50, 250, "mul", 9, 1);
    draft.overhead(20, 30, "Activity Buffer Request");
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    expect(table, "aten::mul", {1, 100, 90, 400, 200});
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("200 ns of aten::mul"), std::string::npos) << table.notes()[0];
}

TEST(Ops, WithoutALinkTheOperatorAroundTheCallCounts) {
    Draft draft;
    draft.op("main", 0, 100, "outer", 1);
    draft.op("main", 10, 90, "inner", 2);
    draft.call("main", 20, 30, "cudaLaunchKernel", 77, 77);  // Kineto of 2021: its own id instead of a link
    draft.kernel(0, 7, 50, 80, "k", 77, 77);
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    expect(table, "inner", {1, 80, 70, 30, 30});
    expect(table, "outer", {1, 100, 20, 30, 0});
}

TEST(Ops, WhatOutlastsItsNeighbourIsNotItsChild) {
    Draft draft;
    draft.op("main", 0, 100, "first", 1);
    draft.op("main", 90, 150, "second", 2);
    draft.op("main", 160, 160, "empty", 3);
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    expect(table, "first", {1, 100, 100, 0, 0});
    expect(table, "second", {1, 60, 60, 0, 0});
    expect(table, "empty", {1, 0, 0, 0, 0});
}

TEST(Ops, NvtxRangesAndHiddenNamesAreNoRows) {
    Draft draft;
    draft.range("main", 0, 100, "nvtx", 1);
    draft.op("main", 10, 20, "aten::is_leaf", 2);
    draft.op("main", 30, 40, "aten::add", 3);
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.text(0, "name"), "aten::add");
}

TEST(Ops, ShapesWhenConstant) {
    Draft draft;
    for (int i = 0; i < 2; ++i) {
        Row same = draft.op("main", 100 * i, 100 * i + 10, "same", 2 * i + 1);
        draft.tables().op.input_dims.set(same, draft.intern("[[2, 3]]"));
        Row differs = draft.op("main", 100 * i + 50, 100 * i + 60, "differs", 2 * i + 2);
        draft.tables().op.input_dims.set(differs, draft.intern(i == 0 ? "[[2]]" : "[[4]]"));
    }
    Trace trace = draft.finish();
    ReadTable table(trace, "ops");
    EXPECT_EQ(table.text(table.find("name", "same"), "shapes"), "[[2, 3]]");
    EXPECT_TRUE(table.absent(table.find("name", "differs"), "shapes"));
}

}  // namespace
}  // namespace gpuprof
