// Tasks on several threads: each runs once, and what one of them throws arrives.
#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/base/pod_vector.h"

namespace gpuprof {
namespace {

TEST(RunParallel, RunsEveryTaskOnce) {
    std::vector<std::atomic<int>> runs(1000);
    run_parallel(runs.size(), 4, [&](std::size_t task, unsigned worker) {
        EXPECT_LT(worker, 4u);
        ++runs[task];
    });
    for (const std::atomic<int>& each : runs) EXPECT_EQ(each, 1);
}

TEST(RunParallel, ThrowsWhatATaskThrowsAndBeginsNoOther) {
    for (std::size_t bad : {std::size_t{0}, std::size_t{7}, std::size_t{999'999}}) {
        std::atomic<std::size_t> begun = 0;
        EXPECT_THROW(run_parallel(1'000'000, 4,
                                  [&](std::size_t task, unsigned) {
                                      ++begun;
                                      if (task == bad) throw std::runtime_error("bad");
                                  }),
                     std::runtime_error);
        EXPECT_LE(begun, 1'000'000u);
    }
}

// In a Python program, too, whose process is not ours to end.
TEST(PodVector, OutOfMemoryIsAnException) {
    PodVector<std::uint64_t> values;
    EXPECT_THROW(values.resize(std::size_t{1} << 63), std::bad_alloc);
    EXPECT_TRUE(values.empty());
}

}  // namespace
}  // namespace gpuprof
