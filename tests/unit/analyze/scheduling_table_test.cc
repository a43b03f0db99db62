// `scheduling`, and the waits for a CPU that `gaps`, `idle`, `cpu` and findings name: drawn as rows, counted by hand.
#include <gtest/gtest.h>

#include <optional>

#include "analyze/facts/idle/cpu_waits.h"
#include "analyze/facts/idle/thread_states.h"
#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void slice(Draft& draft, std::string_view thread, TimeNs start, TimeNs end, std::int32_t cpu,
           std::string_view end_state) {
    CpuSliceTable& table = draft.tables().cpu_slice;
    Row row = table.add();
    table.start.set(row, start);
    table.dur.set(row, end - start);
    table.cpu.set(row, cpu);
    if (!end_state.empty()) table.end_state.set(row, draft.intern(end_state));
    if (thread.empty()) return;
    table.process.set(row, draft.process());
    table.thread.set(row, draft.thread_key(thread));
}

TEST(SchedulingTable, CountsStretchesPreemptionsAndMoves) {
    Draft draft;
    slice(draft, "a", 0, 10, 0, "preempted");
    slice(draft, "a", 30, 35, 0, "blocked");
    slice(draft, "a", 90, 100, 1, "preempted");  // 35-90: it slept
    slice(draft, "a", 104, 110, 0, "");          // its end
    slice(draft, "b", 10, 30, 0, "blocked");
    Trace trace = draft.finish();
    ReadTable table(trace, "scheduling");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "thread"), "a");
    EXPECT_EQ(table.text(0, "process"), "p");
    EXPECT_EQ(table.integer(0, "cpu_ns"), 31);
    EXPECT_EQ(table.integer(0, "slices"), 4);
    EXPECT_EQ(table.integer(0, "preemptions"), 2);
    EXPECT_EQ(table.integer(0, "preempted_ns"), 24);
    EXPECT_DOUBLE_EQ(table.real(0, "preempted_pct"), 100.0 * 24 / 55);
    EXPECT_EQ(table.integer(0, "preempted_max_ns"), 20);
    EXPECT_EQ(table.integer(0, "cpus"), 2);
    EXPECT_EQ(table.integer(0, "migrations"), 2);
    EXPECT_EQ(table.integer(1, "preempted_ns"), 0);
    EXPECT_EQ(table.integer(1, "migrations"), 0);
}

TEST(SchedulingTable, AnUnknownEndIsNoPreemption) {
    Draft draft;
    slice(draft, "a", 0, 10, 0, "");
    slice(draft, "a", 30, 35, 0, "");
    Trace trace = draft.finish();
    ReadTable table(trace, "scheduling");
    EXPECT_EQ(table.integer(0, "cpu_ns"), 15);
    for (const char* column : {"preemptions", "preempted_ns", "preempted_pct", "preempted_max_ns"})
        EXPECT_TRUE(table.absent(0, column)) << column;
}

TEST(SchedulingTable, AWaitDuringWhichRecordsWereLostIsUnknown) {
    for (bool lost : {false, true}) {
        Draft draft;
        slice(draft, "a", 0, 10, 0, "preempted");
        if (lost) slice(draft, "", 20, 25, 1, "lost");
        slice(draft, "a", 30, 40, 0, "preempted");
        slice(draft, "a", 45, 50, 0, "blocked");
        Trace trace = draft.finish();
        ReadTable table(trace, "scheduling");
        ASSERT_EQ(table.rows(), 1u);
        EXPECT_EQ(table.integer(0, "preempted_ns"), lost ? 5 : 25);
    }
}

TEST(SchedulingTable, WithoutRowsSaysHowToRecord) {
    Draft draft;
    Trace trace = draft.finish();
    ReadTable table(trace, "scheduling");
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("record --scheduling"), std::string::npos);
}

TEST(SchedulingTable, AnswersHostileTimes) {
    Draft draft;
    for (std::int64_t start : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX})
        for (std::int64_t dur : {INT64_MIN, std::int64_t{-1}, std::int64_t{5}, INT64_MAX})
            for (std::string_view thread : {"", "a", "b"}) {
                CpuSliceTable& table = draft.tables().cpu_slice;
                Row row = table.add();
                table.start.set(row, start);
                table.dur.set(row, dur);
                if (!thread.empty()) table.thread.set(row, draft.thread_key(thread));
                table.end_state.set(row, draft.intern("preempted"));
            }
    Trace trace = draft.finish();
    ReadTable table(trace, "scheduling");
    EXPECT_EQ(table.rows(), 2u);
}

TEST(SchedulingTable, TimeOnACpuIsNoPartOfTheWindow) {
    Draft draft;
    slice(draft, "a", 0, 1000, 0, "blocked");
    draft.kernel(0, 1, 400, 500, "k");
    EXPECT_EQ(draft.finish().window().length(), 100);
    Draft only;
    slice(only, "a", 10, 1000, 0, "blocked");
    EXPECT_EQ(only.finish().window().length(), 990);
}

// A device that idles from 10 to 110 ms while the thread that launches is in `load`, at work or not as given.
//   main    LLLLLLLL[load...........]L
//   device  KKKKKKKK                  K
Draft idle_device() {
    Draft draft;
    draft.call("main", 0, kMillisecond, "cudaLaunchKernel", 1);
    draft.kernel(0, 1, kMillisecond, 10 * kMillisecond, "k", 1);
    draft.range("main", 2 * kMillisecond, 109 * kMillisecond, "load");
    draft.call("main", 109 * kMillisecond, 110 * kMillisecond, "cudaLaunchKernel", 2);
    draft.kernel(0, 1, 110 * kMillisecond, 120 * kMillisecond, "k", 2);
    return draft;
}

std::string what_of_gap(Draft&& draft) {
    Trace trace = draft.finish();
    ReadTable gaps(trace, "gaps");
    return gaps.rows() == 0 || gaps.absent(0, "host_what") ? "" : gaps.text(0, "host_what");
}

TEST(WaitsForACpu, NameTheGapFromHalfOfItOn) {
    for (auto [wait_ms, named] : {std::pair{49, false}, {50, true}, {95, true}}) {
        Draft draft = idle_device();
        slice(draft, "main", 0, 12 * kMillisecond, 0, "preempted");
        slice(draft, "main", (12 + wait_ms) * kMillisecond, 110 * kMillisecond, 0, "blocked");
        EXPECT_EQ(what_of_gap(std::move(draft)), named ? "load (waiting for a CPU)" : "load") << wait_ms;
    }
}

TEST(WaitsForACpu, SeveralAddUpAndOnlyWithinTheGap) {
    Draft draft = idle_device();
    slice(draft, "main", 0, kMillisecond, 0, "preempted");  // 1-9: before the gap
    slice(draft, "main", 9 * kMillisecond, 20 * kMillisecond, 0, "preempted");
    slice(draft, "main", 45 * kMillisecond, 60 * kMillisecond, 0, "preempted");
    slice(draft, "main", 85 * kMillisecond, 110 * kMillisecond, 0, "blocked");
    Trace trace = draft.finish();
    EXPECT_EQ(ReadTable(trace, "gaps").text(0, "host_what"), "load (waiting for a CPU)");
    ReadTable idle(trace, "idle");
    bool told = false;
    for (const std::string& note : idle.notes())
        told =
            told || note.find("host threads were preempted and waited for a CPU for 50.0 ms of") != std::string::npos;
    EXPECT_TRUE(told) << testing::PrintToString(idle.notes());
    ReadTable findings(trace, "findings");
    std::string all;
    for (std::size_t row = 0; row < findings.rows(); ++row) all += findings.text(row, "evidence") + "\n";
    EXPECT_NE(all.find("was preempted and waited for a CPU for 50.0 ms of it"), std::string::npos) << all;
    EXPECT_NE(all.find("preempted, waiting for a CPU, for 50.0 ms of this time"), std::string::npos) << all;
}

TEST(WaitsForACpu, AreNotSleepAndNotThoseOfOtherThreads) {
    Draft sleeps = idle_device();
    slice(sleeps, "main", 0, 12 * kMillisecond, 0, "blocked");
    slice(sleeps, "main", 107 * kMillisecond, 110 * kMillisecond, 0, "blocked");
    EXPECT_EQ(what_of_gap(std::move(sleeps)), "load");
    Draft other = idle_device();
    slice(other, "worker", 0, 12 * kMillisecond, 0, "preempted");
    slice(other, "worker", 107 * kMillisecond, 110 * kMillisecond, 0, "blocked");
    EXPECT_EQ(what_of_gap(std::move(other)), "load");
}

TEST(WaitsForACpu, PrecedeTheCallInWhichTheyHappened) {
    Draft draft = idle_device();
    OsCallTable& calls = draft.tables().os_call;
    Row row = calls.add();
    calls.start.set(row, 11 * kMillisecond);
    calls.dur.set(row, 95 * kMillisecond);
    calls.thread.set(row, draft.thread_key("main"));
    calls.name.set(row, draft.intern("read"));
    slice(draft, "main", 0, 12 * kMillisecond, 0, "preempted");
    slice(draft, "main", 107 * kMillisecond, 110 * kMillisecond, 0, "blocked");
    EXPECT_EQ(what_of_gap(std::move(draft)), "load (waiting for a CPU)");
}

using Spans = std::vector<std::pair<TimeNs, TimeNs>>;

Spans spans_of(const ThreadStates& states, StringId thread, ThreadState state) {
    Spans spans;
    for (const Interval& each : states.of_thread.at(thread)[static_cast<std::size_t>(state)])
        spans.emplace_back(each.start, each.end);
    return spans;
}

TEST(StatesOfAThread, AreExactWhereSchedulingWasRecorded) {
    Draft draft;
    slice(draft, "a", 0, 10, 0, "preempted");
    slice(draft, "a", 30, 35, 0, "blocked");
    slice(draft, "", 50, 60, 1, "lost");
    slice(draft, "a", 90, 100, 1, "");
    CpuSampleTable& samples = draft.tables().cpu_sample;
    for (std::string_view thread : {"a", "b"}) {  // of a, samples say less than its stretches
        Row row = samples.add();
        samples.time.set(row, 0);
        samples.dur.set(row, 100);
        samples.process.set(row, draft.process());
        samples.thread.set(row, draft.thread_key(thread));
        samples.user_ns.set(row, 50);
    }
    StringId a = draft.intern("a"), b = draft.intern("b");
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    const auto& states = facts.get<ThreadStates>();
    EXPECT_EQ(spans_of(states, a, ThreadState::runs), (Spans{{0, 10}, {30, 35}, {90, 100}}));
    EXPECT_EQ(spans_of(states, a, ThreadState::waits_for_cpu), (Spans{{10, 30}}));
    EXPECT_EQ(spans_of(states, a, ThreadState::sleeps), (Spans{{35, 50}, {60, 90}}));
    EXPECT_EQ(spans_of(states, a, ThreadState::runs_partly), Spans{});
    EXPECT_EQ(spans_of(states, b, ThreadState::runs_partly), (Spans{{0, 100}}));
}

// The notes of `cpu` on a thread that launches and was ready for that long in 10 s.
std::vector<std::string> notes_of(std::optional<DurNs> ready, std::string_view quota = "", std::string_view steal = "",
                                  std::string_view thread = "main") {
    Draft draft = idle_device();
    CpuSampleTable& table = draft.tables().cpu_sample;
    Row row = table.add();
    table.time.set(row, 0);
    table.dur.set(row, 10'000 * kMillisecond);
    table.process.set(row, draft.process());
    table.thread.set(row, draft.thread_key(thread));
    table.user_ns.set(row, 500 * kMillisecond);
    if (ready) table.ready_ns.set(row, *ready);
    MetaTable& meta = draft.tables().meta;
    auto fact = [&](std::string_view key, std::string_view value) {
        if (value.empty()) return;
        Row at = meta.add();
        meta.key.set(at, draft.intern(key));
        meta.value.set(at, draft.intern(value));
    };
    fact("cpu.quota_throttled_periods", quota);
    fact("cpu.steal_ns", steal);
    Trace trace = draft.finish();
    ReadTable cpu(trace, "cpu");
    if (ready) {
        EXPECT_EQ(cpu.integer(0, "ready_ns"), *ready);
        EXPECT_DOUBLE_EQ(cpu.real(0, "ready_pct"), 100.0 * static_cast<double>(*ready) / (10'000.0 * kMillisecond));
    } else {
        EXPECT_TRUE(cpu.absent(0, "ready_ns") && cpu.absent(0, "ready_pct"));
    }
    return cpu.notes();
}

using Notes = std::vector<std::string>;

TEST(CpuShortage, ATenthOfTheTimeIsTold) {
    EXPECT_EQ(
        notes_of(3100 * kMillisecond),
        (Notes{
            "Thread main, which launches device work, waited for a CPU 31.0 % of the time (3.10 s): other programs, or "
            "more busy threads than CPUs that they may use."}));
    EXPECT_EQ(notes_of(990 * kMillisecond), Notes{});
    EXPECT_EQ(notes_of(std::nullopt), Notes{});
    EXPECT_EQ(notes_of(3100 * kMillisecond, "", "", "worker"), Notes{});
}

TEST(CpuShortage, AQuotaIsTheCauseIfItWasUsedUp) {
    EXPECT_EQ(
        notes_of(3100 * kMillisecond, "41 of 100"),
        (Notes{
            "Thread main, which launches device work, waited for a CPU 31.0 % of the time (3.10 s): a CPU quota of the "
            "command's control group was used up in 41 of 100 periods."}));
    EXPECT_EQ(
        notes_of(3100 * kMillisecond, "3 of 100"),
        (Notes{
            "Thread main, which launches device work, waited for a CPU 31.0 % of the time (3.10 s): other programs, or "
            "more busy threads than CPUs that they may use; a CPU quota of the command's control group was used up "
            "in 3 of 100 periods."}));
    EXPECT_EQ(notes_of(0, "3 of 100"),
              (Notes{"A CPU quota of the command's control group was used up in 3 of 100 periods; "
                     "threads then waited for the next period."}));
    EXPECT_EQ(notes_of(0, "0 of 100"), Notes{});
}

TEST(CpuShortage, TheHypervisorIsNamed) {
    Notes notes = notes_of(3100 * kMillisecond, "", "250 1000");
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("the hypervisor ran other virtual machines 25.0 % of the CPUs' time"), std::string::npos);
    EXPECT_EQ(notes_of(3100 * kMillisecond, "", "1 1000"), notes_of(3100 * kMillisecond));
}

TEST(CpuShortage, FactsThatCannotBeAreIgnored) {
    for (std::string_view odd : {"x", "5", "5 of", "7 of 3", "-1 of 3", "99999999999999999999 of 1", "of 5 6"})
        EXPECT_EQ(notes_of(0, odd), Notes{}) << odd;
}

}  // namespace
}  // namespace gpuprof
