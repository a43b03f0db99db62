// Why a device is idle, on timelines short enough to count by eye. Times in us x 1000.
#include "analyze/facts/activity.h"
#include "analyze/facts/idle/gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "analyze/facts/facts.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

constexpr TimeNs kUs = 1000;

// The pieces with their times lie side by side in their gaps, fill them, and sum to what is said of each cause.
void expect_spans_fill_gaps(const Facts& facts, const std::array<DurNs, kIdleCauses>& sums) {
    const GapList& gaps = facts.get<GapList>();
    std::array<DurNs, kIdleCauses> by_cause{};
    std::vector<TimeNs> filled;
    for (const IdleGap& gap : gaps.gaps) filled.push_back(gap.start);
    for (const IdleSpan& span : facts.get<IdleSpans>().spans) {
        EXPECT_EQ(span.start, filled[span.gap]);
        filled[span.gap] = span.start + span.dur;
        by_cause[static_cast<std::size_t>(span.cause)] += span.dur;
    }
    for (std::size_t i = 0; i < filled.size(); ++i) EXPECT_EQ(filled[i], gaps.gaps[i].start + gaps.gaps[i].dur);
    EXPECT_EQ(by_cause, sums);
}

// The longest gap of each cause is where the sorted list has the first one.
void expect_longest_listed(const Facts& facts) {
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    std::vector<IdleGap> listed(gaps.begin(), gaps.end());
    std::sort(listed.begin(), listed.end(), listed_before);
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
        auto first = std::find_if(listed.begin(), listed.end(),
                                  [&](const IdleGap& gap) { return gap.cause == static_cast<IdleCause>(cause); });
        const std::optional<LongestGap>& longest = facts.get<IdleGaps>().longest[cause];
        ASSERT_EQ(longest.has_value(), first != listed.end());
        if (!longest) continue;
        EXPECT_EQ(longest->place, static_cast<std::size_t>(first - listed.begin()) + 1);
    }
}

// Listing the pieces makes the same gaps and totals known.
void expect_listed_on_the_way(const Facts& read) {
    Facts facts(read.trace(), read.options());
    std::size_t pieces = 0;
    list_idle_spans(facts, [&](const IdleSpan& span) {
        const IdleSpan& same = read.get<IdleSpans>().spans[pieces++];
        EXPECT_EQ(std::tuple(span.start, span.dur, span.gap, span.cause),
                  std::tuple(same.start, same.dur, same.gap, same.cause));
    });
    EXPECT_EQ(pieces, read.get<IdleSpans>().spans.size());
    const PodVector<IdleGap>&own = facts.get<GapList>().gaps, &gaps = read.get<GapList>().gaps;
    ASSERT_EQ(own.size(), gaps.size());
    for (std::size_t i = 0; i < gaps.size(); ++i)
        EXPECT_EQ(
            std::tuple(own[i].start, own[i].dur, own[i].device, own[i].cause, own[i].host_what, own[i].after),
            std::tuple(gaps[i].start, gaps[i].dur, gaps[i].device, gaps[i].cause, gaps[i].host_what, gaps[i].after));
    const IdleGaps &total = facts.get<IdleGaps>(), &expected = read.get<IdleGaps>();
    ASSERT_EQ(total.devices.size(), expected.devices.size());
    for (std::size_t i = 0; i < expected.devices.size(); ++i) {
        const DeviceIdle &one = total.devices[i], &other = expected.devices[i];
        EXPECT_EQ(std::tuple(one.device, one.drained, one.between_launches),
                  std::tuple(other.device, other.drained, other.between_launches));
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
            EXPECT_EQ(std::tuple(one.causes[cause].total, one.causes[cause].count),
                      std::tuple(other.causes[cause].total, other.causes[cause].count));
    }
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
        ASSERT_EQ(total.longest[cause].has_value(), expected.longest[cause].has_value());
        if (!total.longest[cause]) continue;
        EXPECT_EQ(total.longest[cause]->place, expected.longest[cause]->place);
    }
}

// Idle time per cause, ns, of all devices; checks on the way that causes and gaps sum to idle exactly.
std::array<DurNs, kIdleCauses> idle_by_cause(const Trace& trace) {
    Facts facts(trace, {});
    std::array<DurNs, kIdleCauses> sums{};
    DurNs idle = 0, gaps = 0, causes = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        idle += trace.window().length() - length(device.busy);
    for (const IdleGap& gap : facts.get<GapList>().gaps) gaps += gap.dur;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices)
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            sums[cause] += device.causes[cause].total;
            causes += device.causes[cause].total;
        }
    EXPECT_EQ(gaps, idle);
    EXPECT_EQ(causes, idle);
    expect_spans_fill_gaps(facts, sums);
    expect_longest_listed(facts);
    expect_listed_on_the_way(facts);
    return sums;
}

DurNs of(const std::array<DurNs, kIdleCauses>& sums, IdleCause cause) { return sums[static_cast<std::size_t>(cause)]; }

TEST(IdleCause, LoaderThenDispatchThenLaunch) {
    // main   |LLLLLLLLLLoocc......|   L loader range, o operator, c launch call inside it
    // device |..............kkkkkk|
    Draft draft;
    draft.range("main", 0, 10 * kUs, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    draft.op("main", 1 * kUs, 9 * kUs, "aten::avg_pool2d");
    draft.op("main", 10 * kUs, 14 * kUs, "aten::mul");
    draft.call("main", 12 * kUs, 14 * kUs, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 14 * kUs, 20 * kUs, "k", 1);
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::input_pipeline), 10 * kUs);
    EXPECT_EQ(of(sums, IdleCause::launch), 4 * kUs);
}

TEST(IdleCause, SynchronisationAndPythonBetween) {
    // main   |c....SSSS....cc|  S sync until 9, nothing recorded until the next launch at 13
    // device |.kkkk..........k|
    Draft draft;
    draft.call("main", 0, 1 * kUs, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 1 * kUs, 5 * kUs, "a", 1);
    draft.call("main", 5 * kUs, 9 * kUs, "cudaStreamSynchronize", 2);
    draft.call("main", 13 * kUs, 15 * kUs, "cudaLaunchKernel", 3);
    draft.kernel(0, 7, 15 * kUs, 16 * kUs, "b", 3);
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::synchronisation), 4 * kUs);
    EXPECT_EQ(of(sums, IdleCause::host_compute), 4 * kUs);
    EXPECT_EQ(of(sums, IdleCause::launch), 1 * kUs + 2 * kUs);
}

TEST(IdleCause, TheAutogradThreadAnswersForTheWaitingMainThread) {
    // The optimizer's kernel is launched by main, which only waited inside its step range while autograd worked.
    Draft draft;
    draft.range("main", 0, 30 * kUs, "ProfilerStep#1");
    draft.op("autograd", 2 * kUs, 20 * kUs, "MulBackward0");
    draft.call("autograd", 3 * kUs, 4 * kUs, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 4 * kUs, 6 * kUs, "backward", 1);
    draft.op("main", 22 * kUs, 26 * kUs, "aten::_foreach_add_");
    draft.call("main", 24 * kUs, 26 * kUs, "cudaLaunchKernel", 2);
    draft.kernel(0, 7, 26 * kUs, 30 * kUs, "optimizer", 2);
    auto sums = idle_by_cause(draft.finish());
    // 2..4 and 6..20 autograd's operator, 22..26 the optimizer's; 0..2 and 20..22 only the step's range.
    EXPECT_EQ(of(sums, IdleCause::launch), 2 * kUs + 14 * kUs + 4 * kUs);
    EXPECT_EQ(of(sums, IdleCause::host_compute), 4 * kUs);
}

TEST(IdleCause, ProfilerOverheadComesFirst) {
    Draft draft;
    draft.overhead(1 * kUs, 9 * kUs, "Activity Buffer Request");
    draft.op("main", 0, 10 * kUs, "aten::mul");
    draft.call("main", 9 * kUs, 10 * kUs, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 10 * kUs, 12 * kUs, "k", 1);
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::profiler), 8 * kUs);
    EXPECT_EQ(of(sums, IdleCause::launch), 2 * kUs);
}

TEST(IdleCause, TheEndsOfTheWindowSubmitNothing) {
    Draft draft;
    draft.call("main", 10 * kUs, 11 * kUs, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 11 * kUs, 20 * kUs, "k", 1);
    draft.range("other", 0, 40 * kUs, "whole");
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::nothing_submitted), 10 * kUs + 20 * kUs);
    EXPECT_EQ(of(sums, IdleCause::launch), 1 * kUs);
}

TEST(IdleCause, WithoutCallsTheCauseIsUnknown) {
    Draft draft;
    draft.kernel(0, 7, 0, 5 * kUs, "a");
    draft.kernel(0, 8, 2 * kUs, 6 * kUs, "b");
    draft.kernel(0, 7, 9 * kUs, 10 * kUs, "c");
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::unknown), 3 * kUs);
}

TEST(IdleCause, AnOpSubmittedLongAgoWaitsForTheDevice) {
    // The second kernel was in the queue before the gap: the launch explains the first 20 us of such gaps at most.
    Draft draft;
    draft.call("main", 0, 1 * kUs, "cudaLaunchKernel", 1);
    draft.call("main", 1 * kUs, 2 * kUs, "cudaLaunchKernel", 2);
    draft.call("main", 2 * kUs, 3 * kUs, "cudaLaunchKernel", 3);
    draft.kernel(0, 7, 2 * kUs, 10 * kUs, "a", 1);
    draft.kernel(0, 7, 11 * kUs, 20 * kUs, "b", 2);
    draft.kernel(0, 7, 90 * kUs, 91 * kUs, "c", 3);
    auto sums = idle_by_cause(draft.finish());
    EXPECT_EQ(of(sums, IdleCause::unrecorded_work), 70 * kUs);
    EXPECT_EQ(of(sums, IdleCause::launch), 2 * kUs + 1 * kUs);
}

}  // namespace
}  // namespace gpuprof
