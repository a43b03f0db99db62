// When submitting threads slept, by what was recorded of them, and which spans load. Times in ms.
#include "analyze/facts/idle/host_sleeps.h"

#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/loaders.h"
#include "analyze/knowledge/host_names.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

constexpr TimeNs kMs = 1'000'000;

// Thread "main" launches at 0 and at 100.
Draft two_launches() {
    Draft draft;
    for (int i : {0, 1}) {
        draft.call("main", 100 * kMs * i, 100 * kMs * i + kMs, "cudaLaunchKernel", i + 1);
        draft.kernel(0, 7, 100 * kMs * i + kMs, 100 * kMs * i + 2 * kMs, "k", i + 1);
    }
    return draft;
}

void waiting_call(Draft& draft, std::string_view thread, TimeNs start, TimeNs end, std::string_view name) {
    OsCallTable& table = draft.tables().os_call;
    Row row = table.add();
    table.start.set(row, start * kMs);
    table.dur.set(row, (end - start) * kMs);
    table.thread.set(row, draft.thread_key(thread));
    table.name.set(row, draft.intern(name));
}

void sample(Draft& draft, std::string_view thread, TimeNs time, std::string_view stack) {
    StackSampleTable& table = draft.tables().stack_sample;
    Row row = table.add();
    table.time.set(row, time * kMs);
    table.thread.set(row, draft.thread_key(thread));
    table.stack.set(row, draft.intern(stack));
}

void cpu_use(Draft& draft, std::string_view thread, TimeNs start, TimeNs end, double used_ms) {
    CpuSampleTable& table = draft.tables().cpu_sample;
    Row row = table.add();
    table.time.set(row, start * kMs);
    table.dur.set(row, (end - start) * kMs);
    table.thread.set(row, draft.thread_key(thread));
    table.user_ns.set(row, static_cast<std::int64_t>(used_ms * kMs));
}

struct Slept {
    IntervalSet work, input, timed;
};

Slept slept(Draft& draft) {
    Trace trace = draft.finish();
    Facts facts(trace, {});
    const HostSleeps& sleeps = facts.get<HostSleeps>();
    auto found = sleeps.of_thread.find(trace.strings().find("main"));
    if (found == sleeps.of_thread.end()) return {};
    return {found->second.for_work, found->second.for_input, found->second.timed};
}

IntervalSet ms(std::initializer_list<std::pair<TimeNs, TimeNs>> spans) {
    IntervalSet set;
    for (auto [start, end] : spans) set.push_back({start * kMs, end * kMs});
    return set;
}

TEST(HostSleeps, CallsThatOnlyWait) {
    Draft draft = two_launches();
    waiting_call(draft, "main", 10, 40, "epoll_wait");
    waiting_call(draft, "main", 50, 60, "read");
    waiting_call(draft, "main", 70, 90, "nanosleep");
    Slept found = slept(draft);
    EXPECT_EQ(found.work, ms({{10, 40}, {70, 90}}));
    EXPECT_EQ(found.timed, ms({{70, 90}}));
    EXPECT_TRUE(found.input.empty());
}

TEST(HostSleeps, NotWhileAnotherThreadSubmits) {
    Draft draft = two_launches();
    draft.call("autograd", 30 * kMs, 31 * kMs, "cudaLaunchKernel", 9);
    draft.call("autograd", 50 * kMs, 51 * kMs, "cudaLaunchKernel", 10);
    draft.kernel(0, 7, 31 * kMs, 32 * kMs, "k", 9);
    draft.kernel(0, 7, 51 * kMs, 52 * kMs, "k", 10);
    waiting_call(draft, "main", 10, 90, "poll");
    Slept found = slept(draft);
    ASSERT_EQ(found.work.size(), 2u);
    EXPECT_EQ(found.work[0], (Interval{10 * kMs, 30 * kMs}));
    EXPECT_EQ(found.work[1].end, 90 * kMs);
    EXPECT_EQ(found.work[1].start, 50 * kMs + 1);
}

TEST(HostSleeps, NotWhileTheDeviceIsWaitedFor) {
    Draft draft = two_launches();
    draft.call("main", 5 * kMs, 60 * kMs, "cudaStreamSynchronize", 20);
    waiting_call(draft, "main", 10, 50, "poll");
    EXPECT_TRUE(slept(draft).work.empty());
}

TEST(HostSleeps, PythonThatWaitsAndThatWorks) {
    Draft draft = two_launches();
    for (TimeNs time = 5; time < 95; time += 10)
        sample(draft, "main", time,
               time < 50 ? "serve (s.py:3);get (queue.py:171);wait (threading.py:320)" : "step (s.py:9)");
    EXPECT_EQ(slept(draft).work, ms({{0, 50}}));
}

TEST(HostSleeps, NotWhileAnotherPythonThreadWorks) {
    Draft draft = two_launches();
    for (TimeNs time = 5; time < 95; time += 10) {
        sample(draft, "main", time, "result (concurrent/futures/_base.py:451);wait (threading.py:320)");
        sample(draft, "pool", time, "decode (images.py:7)");
    }
    EXPECT_TRUE(slept(draft).work.empty());
}

TEST(HostSleeps, ALoadersQueueIsInput) {
    Draft draft = two_launches();
    for (TimeNs time = 5; time < 95; time += 10)
        sample(draft, "main", time,
               "_get_data (/usr/lib/python3/torch/utils/data/dataloader.py:1290);get (queue.py:180);wait "
               "(threading.py:324)");
    Slept found = slept(draft);
    EXPECT_TRUE(found.work.empty());
    EXPECT_EQ(found.input, ms({{0, 90}}));
}

TEST(HostSleeps, AThreadThatHardlyUsedACpu) {
    Draft draft = two_launches();
    cpu_use(draft, "main", 10, 50, 0.5);
    cpu_use(draft, "main", 50, 90, 30);
    EXPECT_EQ(slept(draft).work, ms({{10, 50}}));
}

// The thread used 1 ms of 40, and was outside calls for 2: it may have computed half of these.
TEST(HostSleeps, LittleUseInCallsOfTheDriverSaysNothing) {
    Draft draft = two_launches();
    draft.call("main", 12 * kMs, 50 * kMs, "cudaMemcpy", 20);
    cpu_use(draft, "main", 10, 50, 1);
    EXPECT_TRUE(slept(draft).work.empty());
}

TEST(HostNames, FunctionsThatWait) {
    for (std::string_view name : {"poll", "epoll_wait", "pthread_cond_timedwait", "nanosleep"})
        EXPECT_TRUE(waits_in_os(name)) << name;
    for (std::string_view name : {"read", "ioctl", "pthread_join", "waitpid", "pthread_mutex_lock", "polling"})
        EXPECT_FALSE(waits_in_os(name)) << name;
    EXPECT_TRUE(waits_in_python("get", "/usr/lib/python3.11/queue.py"));
    EXPECT_TRUE(waits_in_python("get", "multiprocessing/queues.py"));
    EXPECT_TRUE(waits_in_python("<built-in method poll of select.epoll object>", ""));
    EXPECT_FALSE(waits_in_python("get", "myqueue.py"));
    EXPECT_FALSE(waits_in_python("ge", "queue.py"));
    EXPECT_FALSE(waits_in_python("put", "queue.py"));
    EXPECT_FALSE(waits_in_python("", ""));
}

// One span in ten may launch: the first one sets things up.
TEST(Loaders, ANameIsNoProof) {
    Draft draft = two_launches();
    for (int i = 0; i < 20; ++i) {
        TimeNs start = (200 + 10 * i) * kMs;
        draft.range("main", start, start + 8 * kMs, "batch");
        draft.range("main", start + 8 * kMs, start + 10 * kMs, "load_batch");
        draft.call("main", start + kMs, start + 2 * kMs, "cudaLaunchKernel", 100 + i);
        draft.kernel(0, 7, start + 2 * kMs, start + 3 * kMs, "k", 100 + i);
    }
    draft.call("main", 209 * kMs, 209 * kMs + 1000, "cudaLaunchKernel", 99);
    draft.kernel(0, 7, 209 * kMs + 2000, 209 * kMs + 3000, "k", 99);
    Trace trace = draft.finish();
    Facts facts(trace, {});
    EXPECT_FALSE(facts.get<Loaders>().has(trace.strings().find("batch")));
    EXPECT_TRUE(facts.get<Loaders>().has(trace.strings().find("load_batch")));
    EXPECT_FALSE(facts.get<Loaders>().has(trace.strings().find("main")));
    EXPECT_FALSE(facts.get<Loaders>().has(kNoString));
}

}  // namespace
}  // namespace gpuprof
