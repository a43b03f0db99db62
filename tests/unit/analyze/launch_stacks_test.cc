// Stacks of launches: device time by stack, and idle time by the place that launched afterwards.
#include <gtest/gtest.h>

#include "analyze/facts/idle/idle_calls.h"
#include "present/answer/analyses.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

TEST(LaunchPlace, IsTheInnermostPythonFunction) {
    EXPECT_EQ(launch_place("main (a.py:1);step (b.py:2);at::mm (libtorch.so);0x10 (libx.so)"), "step (b.py:2)");
    EXPECT_EQ(launch_place("main (train);run (libtrain.so)"), "run (libtrain.so)");
    EXPECT_EQ(launch_place(""), "");
}

// main   |L...L......L......L...|   launches from a, a, b, and one without a stack
// device |.AA..AAA....B......C..|
Trace training() {
    Draft draft;
    std::int64_t id = 0;
    auto work = [&](TimeNs at, TimeNs length, std::string_view kernel, std::string_view stack) {
        draft.call("main", at, at + 10, "cudaLaunchKernel", ++id);
        if (!stack.empty()) draft.stack(stack);
        draft.kernel(0, 7, at + 10, at + 10 + length, kernel, id);
    };
    work(0, 2000, "A", "main (t.py:1);a (t.py:5)");
    work(4000, 3000, "A", "main (t.py:1);a (t.py:5)");
    work(20'000, 1000, "B", "main (t.py:1);b (t.py:9)");
    work(50'000, 1000, "C", "");
    return draft.finish();
}

TEST(LaunchStacks, AddUpLaunchesAndDeviceTime) {
    Trace trace = training();
    Facts facts(trace, {});
    ResultTable table = find_analysis("launch_stacks")->run(facts).value();
    ASSERT_EQ(table.rows(), 2u);
    auto text = [&](std::size_t row, std::size_t column) {
        return std::string(std::get<std::string_view>(table.cell(row, column)));
    };
    EXPECT_EQ(text(0, 0), "a (t.py:5)");
    EXPECT_EQ(text(1, 0), "b (t.py:9)");
    ASSERT_EQ(table.notes.size(), 1u);
    EXPECT_EQ(table.notes[0], "1 of 4 kernels are omitted: the calls that submitted them have no stack.");
}

TEST(IdleLaunches, NameThePlaceThatEndedIdleTime) {
    Trace trace = training();
    Facts facts(trace, {});
    const auto& launches = facts.get<IdleLaunches>();
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    std::vector<std::string> places;
    for (const IdleGap& gap : gaps) places.emplace_back(launches.of(trace, gap));
    EXPECT_EQ(places, (std::vector<std::string>{"a (t.py:5)", "a (t.py:5)", "b (t.py:9)", ""}));
    // The longest gap ends with a launch without a stack, so no place has half of the time that the host computed. Two
    // of the four launches that were waited for are from one place.
    DeviceIdle device = facts.get<IdleGaps>().devices.at(0);
    EXPECT_FALSE(launches.top(device, IdleCause::host_compute));
    std::optional<LaunchPlaceTime> launch = launches.top(device, IdleCause::launch);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->place, "a (t.py:5)");
    EXPECT_EQ(launch->ns, 20);
}

}  // namespace
}  // namespace gpuprof
