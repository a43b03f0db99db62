// The recorder's work before each point of a replay, compared with counting every row for every point.
#include <gtest/gtest.h>

#include <random>

#include "analyze/replay/recorded_work.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof::test {
namespace {

bool operator==(const RecordedWork& a, const RecordedWork& b) {
    return a.calls == b.calls && a.ops == b.ops && a.python == b.python && a.memory == b.memory &&
           a.overhead_ns == b.overhead_ns;
}

TEST(WorkByPoint, KeepsWhatNeedsMoreThanFourBytes) {
    const RecordedWork kept[] = {
        {},          {1, 2, 3, 4, 0},   {255, 255, 255, 127, 0}, {256, 0, 0, 0, 0}, {0, 256},
        {0, 0, 256}, {0, 0, 0, 128, 0}, {0, 0, 0, 0, 1},         {9, 9, 9, 9},      {70'000, 1, 1, 1, 5'000'000'000}};
    WorkByPoint work;
    EXPECT_TRUE(work.empty());
    for (const RecordedWork& each : kept) work.push_back(each);
    ASSERT_EQ(work.size(), std::size(kept));
    for (std::size_t i = 0; i < std::size(kept); ++i) EXPECT_TRUE(work[i] == kept[i]) << i;
}

// Rows of a thread that begin at `from` or later and before `until`.
template <class Table>
std::uint32_t count(const Table& table, const Column<TimeNs>& times, StringId thread, TimeNs from, TimeNs until) {
    std::uint32_t found = 0;
    for (Row row = 0; row < table.rows; ++row)
        found += table.thread.value_or(row, kNoString) == thread && times[row] >= from && times[row] < until;
    return found;
}

TEST(WorkCounter, CountsEveryRowOnceAtTheNextPointOfItsThread) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        auto below = [&](unsigned n) { return static_cast<TimeNs>(random() % n); };
        Draft draft;
        for (const char* thread : {"main", "autograd"}) draft.thread_key(thread);
        for (int i = 0; i < 100; ++i) {
            const char* thread = below(3) == 0 ? "autograd" : below(9) == 0 ? "another" : "main";
            TimeNs start = below(200);
            switch (below(5)) {
                case 0: draft.op(thread, start, start + 5, "aten::mm"); break;
                case 1: draft.range(thread, start, start + 5, "step"); break;
                case 2: draft.python(thread, start, start + 5, "forward"); break;
                case 3: draft.call(thread, start, start + 2, "cudaLaunchKernel", 3 * start); break;
                default: {
                    MemoryEventTable& memory = draft.tables().memory_event;
                    Row row = memory.add();
                    memory.time.set(row, start), memory.thread.set(row, draft.thread_key(thread));
                }
            }
        }
        Trace trace = draft.finish("torch.profiler");
        std::vector<StringId> keys;  // as the trace numbers them
        for (const char* name : {"main", "autograd"})
            for (std::uint32_t i = 0; i < trace.strings().size(); ++i)
                if (trace.text(StringId{i}) == name) keys.push_back(StringId{i});
        ASSERT_EQ(keys.size(), 2u);
        WorkCounter counter(trace, keys);
        ASSERT_TRUE(counter.known());
        std::vector<TimeNs> last(2, -1);
        for (TimeNs time = 0; time < 250; time += below(4)) {
            auto lane = static_cast<std::uint16_t>(below(2));
            RecordedWork work = counter.before(lane, time);
            StringId thread = keys[lane];
            TimeNs from = last[lane];
            const Tables& tables = trace.tables();
            EXPECT_EQ(work.ops, count(trace.op(), trace.op().start, thread, from, time) +
                                    count(trace.range(), trace.range().start, thread, from, time));
            EXPECT_EQ(work.python, count(tables.python_call, tables.python_call.start, thread, from, time));
            EXPECT_EQ(work.memory, count(tables.memory_event, tables.memory_event.time, thread, from, time));
            EXPECT_GE(work.calls, count(trace.api_call(), trace.api_call().start, thread, from, time));
            last[lane] = time;
        }
    }
}

TEST(WorkCounter, CountsCallsThatAreNotInTheFileInFrontOfTheNextOne) {
    Draft draft;
    std::vector<StringId> threads{draft.thread_key("main")};
    draft.call("main", 100, 110, "cudaLaunchKernel", 1);
    draft.call("main", 200, 210, "cudaLaunchKernel", 6);  // 2 to 5 were recorded
    Trace trace = draft.finish("torch.profiler");
    for (std::uint32_t i = 0; i < trace.strings().size(); ++i)
        if (trace.text(StringId{i}) == "main") threads = {StringId{i}};
    WorkCounter counter(trace, threads);
    EXPECT_EQ(counter.before(0, 100).calls, 0u);
    EXPECT_EQ(counter.before(0, 110).calls, 1u);
    EXPECT_EQ(counter.before(0, 200).calls, 4u);
    EXPECT_EQ(counter.before(0, 210).calls, 1u);
}

TEST(WorkCounter, KnowsNoCostOfOtherRecorders) {
    Draft draft;
    draft.call("main", 100, 110, "cudaLaunchKernel", 1);
    EXPECT_FALSE(WorkCounter(draft.finish("another"), {}).known());
}

}  // namespace
}  // namespace gpuprof::test
