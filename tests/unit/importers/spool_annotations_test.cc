// Annotations that a collector left: which ranges they become when some of them are missing.
#include <gtest/gtest.h>

#include "io/importers/spool/spool_annotations.h"

namespace gpuprof {
namespace {

using spool::HostEventOp;

// What threads annotated, and the ranges that it became.
class Annotated {
public:
    void add(std::uint32_t thread, HostEventOp op, std::uint64_t time, std::uint64_t range,
             std::string_view name = "") {
        spool::HostEvent event{};
        event.op = op;
        event.time = time;
        event.range = range;
        annotations_.add(thread, event, name);
    }
    const RangeTable& finish(TimeNs last_time) {
        annotations_.finish(last_time, [&](std::uint32_t) { return batch_.intern("thread"); });
        return batch_.tables.range;
    }
    std::string_view name(StringId id) const { return batch_.strings[id]; }

private:
    Batch batch_;
    SpoolAnnotations annotations_{batch_};
};

TEST(SpoolAnnotations, ARangeWhoseEndWasLostEndsWhereItsIdBeginsAgain) {
    Annotated annotated;
    annotated.add(1, HostEventOp::start, 100, 7, "first");
    annotated.add(1, HostEventOp::start, 150, 7, "second");
    annotated.add(1, HostEventOp::end, 180, 7);
    const RangeTable& table = annotated.finish(500);
    ASSERT_EQ(table.rows, 2u);
    EXPECT_EQ(annotated.name(table.name[0]), "first");
    EXPECT_EQ(table.dur[0], 50);
    EXPECT_EQ(annotated.name(table.name[1]), "second");
    EXPECT_EQ(table.dur[1], 30);
}

TEST(SpoolAnnotations, APauseEndsWhatItsThreadHadOpen) {
    Annotated annotated;
    annotated.add(1, HostEventOp::push, 100, 0, "a");
    annotated.add(1, HostEventOp::start, 110, 7, "b");
    annotated.add(2, HostEventOp::start, 120, 8, "c");
    annotated.add(1, HostEventOp::reset, 150, 0);
    annotated.add(1, HostEventOp::reset, 160, 0);
    const RangeTable& table = annotated.finish(500);
    ASSERT_EQ(table.rows, 3u);
    EXPECT_EQ(std::vector({table.dur[0], table.dur[1], table.dur[2]}), (std::vector<DurNs>{50, 40, 380}));
}

// A square of these numbers would take minutes.
TEST(SpoolAnnotations, ManyPausesAmongManyOpenRangesCostEachRangeOnce) {
    constexpr std::uint64_t kMany = 100'000;
    Annotated annotated;
    for (std::uint64_t i = 0; i < kMany; ++i) annotated.add(1, HostEventOp::start, i + 1, i, "open");
    for (std::uint64_t i = 0; i < kMany; ++i) annotated.add(2, HostEventOp::reset, kMany + i, 0);
    EXPECT_EQ(annotated.finish(3 * kMany).rows, kMany);
}

}  // namespace
}  // namespace gpuprof
