// Steps that begin and end on several threads at a time, while another one takes what they report.
#include "collect/inject/steps/step_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace gpuprof::inject {
namespace {

constexpr int kSteps = 4000;

void rest(int step) {
    if (step % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
}

// Each step has another one in it, which is part of it.
void push_and_pop(StepWatch& watch, std::uint32_t thread) {
    OpenStep open;
    for (int i = 0; i < kSteps; ++i, rest(i)) {
        watch.push(open, thread, 0), watch.push(open, thread, 1);
        watch.pop(open, thread, 1, true), watch.pop(open, thread, 0, true);
    }
}

// Ranges that the other thread ends: `handed` is the one to end.
void begin_ranges(StepWatch& watch, std::uint32_t thread, std::atomic<std::uint64_t>& handed) {
    OpenStep open;
    for (int i = 0; i < kSteps; ++i, rest(i)) {
        watch.begin_range(open, thread, static_cast<std::uint64_t>(i) + 1);
        handed = static_cast<std::uint64_t>(i) + 1;
        while (handed != 0) std::this_thread::yield();
    }
}
void end_ranges(StepWatch& watch, std::atomic<std::uint64_t>& handed) {
    OpenStep own;
    for (int ended = 0; ended < kSteps;) {
        std::uint64_t range = handed;
        if (range != 0) watch.end_range(own, range, true), ++ended, handed = 0;
        std::this_thread::yield();
    }
}

// The settings are read once, from the environment.
std::unique_ptr<StepWatch> started() {
    setenv("GPUPROF_RECORD", "keep_slow=3", 1);
    auto watch = std::make_unique<StepWatch>();
    watch->start();
    unsetenv("GPUPROF_RECORD");
    return watch;
}

TEST(StepWatch, EveryStepOfEveryThreadIsReportedOrCounted) {
    auto watch = started();
    ASSERT_TRUE(watch->wanted());
    std::atomic<std::uint64_t> handed{0};
    std::atomic<int> running{4};
    std::vector<std::thread> threads;
    auto run = [&](auto&& work) { threads.emplace_back([&, work] { work(), --running; }); };
    run([&] { push_and_pop(*watch, 1); });
    run([&] { push_and_pop(*watch, 2); });
    run([&] { begin_ranges(*watch, 3, handed); });
    run([&] { end_ranges(*watch, handed); });
    std::map<std::uint32_t, std::uint64_t> last;
    std::uint64_t ended = 0, wrong = 0;
    auto take = [&] {
        watch->take_events([&](const StepEvent& event) {
            if (event.kind != StepEvent::ended) return;
            ++ended;
            wrong += event.number <= last[event.thread] || event.end.steady < event.begin.steady;
            last[event.thread] = event.number;
        });
    };
    while (running > 0) take(), std::this_thread::yield();
    for (std::thread& thread : threads) thread.join();
    take();
    EXPECT_EQ(ended + watch->missed(), 3u * kSteps);
    EXPECT_EQ(watch->nested(), 2u * kSteps);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(last.size(), 3u);
}

TEST(StepWatch, AQueueThatIsFullCountsWhatEnds) {
    auto watch = started();
    OpenStep open;
    for (int i = 0; i < kSteps; ++i) watch->mark(open, 1);
    std::uint64_t ended = 0, last = 0;
    watch->take_events([&](const StepEvent& event) {
        ended += event.kind == StepEvent::ended;
        last = event.number;
    });
    EXPECT_GT(watch->missed(), 0u);
    EXPECT_EQ(ended + watch->missed(), kSteps - 1u);  // the last one has no end
    EXPECT_LT(last, static_cast<std::uint64_t>(kSteps));
    watch->mark(open, 1);
    watch->take_events([&](const StepEvent& event) { last = event.number; });
    EXPECT_EQ(last, kSteps + 1u);
}

}  // namespace
}  // namespace gpuprof::inject
