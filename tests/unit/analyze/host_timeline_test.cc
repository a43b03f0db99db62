// The spans of a host thread: merged order, nesting, and the question "what was it doing at this time?".
#include "analyze/facts/idle/host_timeline.h"

#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

// 1 char = 10 ns
// range  |[step............]....|
// op     |..[add..][mul........]|   mul outlasts the step
// call   |...L................S.|
Trace nested_trace() {
    Draft draft;
    draft.call("main", 30, 40, "launch", 1);
    draft.call("main", 200, 210, "sync", 2);
    draft.op("main", 20, 90, "add");
    draft.op("main", 90, 220, "mul");
    draft.range("main", 0, 180, "step");
    draft.op("other", 50, 60, "worker");
    draft.overhead(100, 110, "flush");
    return draft.finish();
}

std::string_view name_at(const Trace& trace, const HostThread& thread, TimeNs time) {
    std::uint32_t span = thread.innermost_at(time);
    return span == kNoSpan ? "" : trace.text(thread.spans[span].name);
}

StringId key(const Trace& trace, std::string_view name) { return trace.strings().find(name); }

TEST(HostTimeline, MergesAndNests) {
    Trace trace = nested_trace();
    HostThread main = HostTimeline(trace).spans(key(trace, "main"));
    ASSERT_EQ(main.spans.size(), 5u);
    const char* names[] = {"step", "add", "launch", "mul", "sync"};
    std::uint32_t parents[] = {kNoSpan, 0, 1, 0, 3};
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(trace.text(main.spans[i].name), names[i]);
        EXPECT_EQ(main.spans[i].parent, parents[i]) << names[i];
    }
    EXPECT_EQ(main.spans[2].kind, HostKind::api_call);
    EXPECT_EQ(trace.api_call().start[main.spans[2].row], 30);
}

TEST(HostTimeline, FindsTheInnermost) {
    Trace trace = nested_trace();
    HostThread main = HostTimeline(trace).spans(key(trace, "main"));
    EXPECT_EQ(name_at(trace, main, -1), "");
    EXPECT_EQ(name_at(trace, main, 0), "step");
    EXPECT_EQ(name_at(trace, main, 35), "launch");
    EXPECT_EQ(name_at(trace, main, 40), "add");
    EXPECT_EQ(name_at(trace, main, 90), "mul");
    EXPECT_EQ(name_at(trace, main, 190), "mul");  // the step has ended
    EXPECT_EQ(name_at(trace, main, 205), "sync");
    EXPECT_EQ(name_at(trace, main, 219), "mul");
    EXPECT_EQ(name_at(trace, main, 220), "");
}

// Operators of many calls, one of them of more than a piece has; between operators nothing is open.
TEST(HostTimeline, PiecesAreTheWhole) {
    Draft draft;
    TimeNs at = 0;
    std::int64_t id = 0;
    for (int calls : {100, 9000, 3, 20'000, 1, 8191}) {
        TimeNs begin = at;
        for (int i = 0; i < calls; ++i, at += 10) draft.call("main", at, at + 7, "launch", ++id);
        draft.op("main", begin, at, "op");
        at += 5;
    }
    Trace trace = draft.finish();
    HostTimeline timeline(trace);
    HostThread whole = timeline.spans(key(trace, "main"));
    std::size_t pieces = 0, before = 0;
    timeline.each_piece(key(trace, "main"), kAllHostKinds, [&](const HostThread& piece) {
        for (std::size_t i = 0; i < piece.spans.size(); ++i) {
            const HostSpan &here = piece.spans[i], &there = whole.spans[before + i];
            ASSERT_TRUE(here.kind == there.kind && here.row == there.row && here.end == there.end);
            ASSERT_EQ(here.parent == kNoSpan ? kNoSpan : here.parent + before, there.parent);
        }
        before += piece.spans.size();
        ++pieces;
    });
    EXPECT_EQ(before, whole.spans.size());
    EXPECT_EQ(pieces, 3u);
    std::vector<TimeNs> times;
    for (TimeNs time = -3; time < at + 3; time += 2) times.push_back(time);
    std::size_t asked = 0;
    timeline.each_innermost_at(key(trace, "main"), times, [&](const HostThread& piece, std::uint32_t span) {
        std::uint32_t expected = whole.innermost_at(times[asked++]);
        ASSERT_EQ(span == kNoSpan, expected == kNoSpan);
        if (span == kNoSpan) return;
        ASSERT_EQ(piece.spans[span].kind, whole.spans[expected].kind);
        ASSERT_EQ(piece.spans[span].row, whole.spans[expected].row);
    });
    EXPECT_EQ(asked, times.size());
}

TEST(HostTimeline, KeepsThreadsApart) {
    Trace trace = nested_trace();
    HostTimeline timeline(trace);
    ASSERT_EQ(timeline.threads().size(), 3u);
    EXPECT_EQ(timeline.threads().back(), kNoString);
    EXPECT_EQ(timeline.spans(key(trace, "other")).spans.size(), 1u);
    EXPECT_EQ(timeline.spans(kNoString).spans.size(), 1u);
    EXPECT_TRUE(timeline.spans(key(trace, "step")).spans.empty());  // a string that is no thread
}

TEST(HostTimeline, TakesOnlyTheKindsAskedFor) {
    Trace trace = nested_trace();
    HostTimeline timeline(trace, {HostKind::op, HostKind::range});
    HostThread main = timeline.spans(key(trace, "main"));
    ASSERT_EQ(main.spans.size(), 3u);
    EXPECT_EQ(timeline.spans(key(trace, "main"), {HostKind::op}).spans.size(), 2u);
    EXPECT_EQ(timeline.spans(key(trace, "main"), {HostKind::api_call}).spans.size(), 0u);
}

TEST(HostTimeline, EqualSpansNestByKind) {
    Draft draft;
    draft.call("t", 5, 9, "call", 1);
    draft.op("t", 5, 9, "op");
    draft.python("t", 5, 9, "python");
    draft.range("t", 5, 9, "range");
    Trace trace = draft.finish();
    HostThread thread = HostTimeline(trace).spans(key(trace, "t"));
    HostKind kinds[] = {HostKind::range, HostKind::python_call, HostKind::op, HostKind::api_call};
    ASSERT_EQ(thread.spans.size(), 4u);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(thread.spans[i].kind, kinds[i]);
    EXPECT_EQ(thread.spans[3].parent, 2u);
}

}  // namespace
}  // namespace gpuprof
