// Annotations that a collector left: which ranges they become when some of them are missing.
#include <gtest/gtest.h>

#include "core/importers/spool_annotations.h"

namespace gpuprof {
namespace {

using spool::NvtxEvent;
using spool::NvtxOp;

NvtxEvent event(NvtxOp op, std::uint64_t time, std::uint64_t range) {
    NvtxEvent made{};
    made.op = op;
    made.time = time;
    made.range = range;
    return made;
}

TEST(SpoolAnnotations, ARangeWhoseEndWasLostEndsWhereItsIdBeginsAgain) {
    Batch batch;
    SpoolAnnotations annotations(batch);
    annotations.add(1, event(NvtxOp::start, 100, 7), "first");
    annotations.add(1, event(NvtxOp::start, 150, 7), "second");
    annotations.add(1, event(NvtxOp::end, 180, 7), "");
    annotations.finish(500, [&](std::uint32_t) { return batch.intern("thread"); });
    const RangeTable& table = batch.tables.range;
    ASSERT_EQ(table.rows, 2u);
    EXPECT_EQ(batch.strings[table.name[0]], "first");
    EXPECT_EQ(table.dur[0], 50);
    EXPECT_EQ(batch.strings[table.name[1]], "second");
    EXPECT_EQ(table.dur[1], 30);
}

TEST(SpoolAnnotations, APauseEndsWhatItsThreadHadOpen) {
    Batch batch;
    SpoolAnnotations annotations(batch);
    annotations.add(1, event(NvtxOp::push, 100, 0), "a");
    annotations.add(1, event(NvtxOp::start, 110, 7), "b");
    annotations.add(2, event(NvtxOp::start, 120, 8), "c");
    annotations.add(1, event(NvtxOp::reset, 150, 0), "");
    annotations.add(1, event(NvtxOp::reset, 160, 0), "");
    annotations.finish(500, [&](std::uint32_t) { return batch.intern("thread"); });
    const RangeTable& table = batch.tables.range;
    ASSERT_EQ(table.rows, 3u);
    EXPECT_EQ(std::vector({table.dur[0], table.dur[1], table.dur[2]}), (std::vector<DurNs>{50, 40, 380}));
}

// A square of these numbers would take minutes.
TEST(SpoolAnnotations, ManyPausesAmongManyOpenRangesCostEachRangeOnce) {
    constexpr std::uint64_t kMany = 100'000;
    Batch batch;
    SpoolAnnotations annotations(batch);
    for (std::uint64_t i = 0; i < kMany; ++i) annotations.add(1, event(NvtxOp::start, i + 1, i), "open");
    for (std::uint64_t i = 0; i < kMany; ++i) annotations.add(2, event(NvtxOp::reset, kMany + i, 0), "");
    annotations.finish(3 * kMany, [&](std::uint32_t) { return batch.intern("thread"); });
    EXPECT_EQ(batch.tables.range.rows, kMany);
}

}  // namespace
}  // namespace gpuprof
