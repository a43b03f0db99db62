// Replays of traces that no program makes: nothing is expected of them but an answer. Sanitizer builds check the arithmetic.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "analyze/facts/facts.h"
#include "analyze/replay/critical_path.h"
#include "analyze/replay/prediction.h"
#include "tests/unit/replay/programs.h"

namespace gpuprof::test {
namespace {

// Replays with every change, whatever the validity says; why there is no graph.
std::string answer(const Trace& trace) {
    Facts facts(trace, {});
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    facts.get<ReplayValidity>();
    facts.get<WhatIf>();
    EXPECT_EQ(graph.first_edge.size(), graph.points() + 1);
    if (!graph.recorded_work.empty()) {
        EXPECT_EQ(graph.recorded_work.size(), graph.points());
    }
    for (std::size_t i = 0; i < kChanges; ++i)
        for (Estimate estimate : {Estimate::low, Estimate::central, Estimate::high}) {
            Scenario scenario(graph);
            apply({static_cast<Change>(i), 0, "."}, facts, graph, scenario, estimate);
            remove_recorder(facts, graph, scenario, estimate);
            PodVector<TimeNs> times = replay_times(graph, scenario, trace);
            EXPECT_EQ(times.size(), graph.points());
            // One step has its beginning, too.
            std::size_t ends = graph.steps.size() == 1 ? 2 : graph.steps.size();
            EXPECT_EQ(completions(graph, scenario, times).size(), ends);
            CriticalPath path = critical_path(graph, scenario, times);
            std::optional<RecordedTimes> recorded;
            for (const PathPart& part : path.parts) {
                if (!recorded) recorded.emplace(graph, trace);
                EXPECT_GE(recorded->of(part).length(), 0);
            }
        }
    return graph.why_not;
}

std::string answer(Draft& draft) { return answer(draft.finish("torch.profiler")); }

TEST(HostileReplay, OfNothing) {
    Draft draft;
    EXPECT_EQ(answer(draft), "CUDA calls were not recorded");
}

TEST(HostileReplay, OfOpsAlone) {
    Draft draft;
    for (int i = 0; i < 10; ++i) draft.kernel(0, 7, i * 100, i * 100 + 50, "gemm", i);
    EXPECT_EQ(answer(draft), "CUDA calls were not recorded");
}

TEST(HostileReplay, OfCallsAlone) {
    Draft draft;
    for (int i = 0; i < 10; ++i) draft.call("main", i * 100, i * 100 + 50, "cudaLaunchKernel", i);
    EXPECT_EQ(answer(draft), "no recorded call submits work to the GPU, or more than 256 threads do");
}

TEST(HostileReplay, OfCallsWithoutThreads) {
    Draft draft;
    for (int i = 0; i < 10; ++i) {
        ApiCallTable& calls = draft.tables().api_call;
        Row row = calls.add();
        calls.start.set(row, i * 100), calls.dur.set(row, 5);
        calls.process.set(row, draft.intern("p"));
        calls.name.set(row, draft.intern("cudaLaunchKernel"));
        calls.correlation.set(row, i);
        draft.kernel(0, 7, i * 100 + 10, i * 100 + 20, "gemm", i);
    }
    EXPECT_EQ(answer(draft), "no recorded call submits work to the GPU, or more than 256 threads do");
}

TEST(HostileReplay, OfOneOp) {
    Draft draft;
    draft.call("main", 0, 5, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 10, 20, "gemm", 1);
    EXPECT_EQ(answer(draft), "");
}

TEST(HostileReplay, OfManyThreads) {
    for (int threads : {9, 256, 257, 300}) {
        Draft draft;
        for (int i = 0; i < 3 * threads; ++i) {
            draft.call("thread " + std::to_string(i % threads), i * 10, i * 10 + 5, "cudaLaunchKernel", i);
            draft.kernel(0, i % threads, i * 10 + 7, i * 10 + 500, "gemm", i);
        }
        EXPECT_EQ(answer(draft).empty(), threads <= 256) << threads;
    }
}

TEST(HostileReplay, OfEventsAtOneTime) {
    Draft draft;
    for (int i = 0; i < 50; ++i) {
        draft.range("main", 1'000, 1'000, "ProfilerStep#" + std::to_string(i));
        draft.call(i % 2 == 0 ? "main" : "autograd", 1'000, 1'000,
                   i % 3 == 0 ? "cudaStreamSynchronize" : "cudaLaunchKernel", i);
        draft.kernel(0, i % 4, 1'000, 1'000, "gemm", i);
        draft.memcpy(0, i % 4, 1'000, 1'000, "HtoD", 1 << 20, i);
    }
    EXPECT_EQ(answer(draft), "");
}

// Random events on few instants: ops before their calls, calls inside calls, copies of no and of huge size, waits for streams that are not.
TEST(HostileReplay, OfRandomEvents) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
        const char* const kCalls[] = {
            "cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize",
            "cudaMalloc",       "cudaFree",        "cudaEventRecord", "cudaStreamWaitEvent",   ""};
        TimeNs scale = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 20'000 : TimeNs{1} << 50;
        Draft draft;
        for (int i = 0; i < 120; ++i) {
            std::string thread = below(3) == 0 ? "autograd" : "main";
            TimeNs start = below(40) * scale, end = start + below(8) * scale;
            switch (below(8)) {
                case 0: draft.range(thread, start, end, "ProfilerStep#" + std::to_string(i)); break;
                case 1:
                    draft.range(thread, start, end, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
                    break;
                case 2: draft.op(thread, start, end, "aten::mm"); break;
                case 3:
                case 4: draft.call(thread, start, end, kCalls[below(10)], below(40)); break;
                case 5:
                    draft.kernel(0, below(3), start, end, below(3) == 0 ? kAllReduce : "vectorized_elementwise_kernel",
                                 below(40));
                    break;
                case 6:
                    draft.memcpy(0, below(3), start, end, below(2) == 0 ? "HtoD" : "DtoH", below(2) << 40, below(40));
                    break;
                case 7: {
                    SyncTable& syncs = draft.tables().sync;
                    Row row = syncs.add();
                    syncs.start.set(row, start), syncs.dur.set(row, end - start);
                    syncs.stream.set(row, below(5) - 1), syncs.wait_on_stream.set(row, below(5) - 1);
                    syncs.correlation.set(row, below(40)), syncs.wait_on_correlation.set(row, below(40));
                }
            }
        }
        answer(draft);
    }
}

}  // namespace
}  // namespace gpuprof::test
