// The timer and the loop on the simulated device: what is in a time, and what is not.
#include "measure/cuda_timer.h"

#include "measure/cuda_symbols.def"
#include "tests/unit/measure/sim_fixture.h"

namespace gpuprof::measure {
namespace {

constexpr std::uint64_t kTimedStream = 0x10;

int one_kernel(void*) { return SimStage::launch(0), 0; }
int on_a_stream(void*) { return SimStage::launch(0, kTimedStream); }
// Two kernels of 5 us; the host is busy for 20 us in between.
int with_a_gap(void*) {
    SimStage::launch(0);
    SimStage::spend(20'000);
    SimStage::launch(0);
    return 0;
}
int waits(void*) {
    SimStage::launch(0);
    SimStage::synchronize();
    return 0;
}
int eight_kernels(void*) {
    for (int i = 0; i < 8; ++i) SimStage::launch(0);
    return 0;
}
int elsewhere(void*) {
    SimStage::launch(0);
    SimStage::launch(1, kTimedStream);
    return 0;
}

TEST(CudaTimer, LeavesGapsBetweenLaunchesOut) {
    SimStage stage("kernel 0 constant 5000");
    Measurement found = stage.measure(with_a_gap);
    EXPECT_NEAR(found.statistics.median, 10'000, 0.01);
    EXPECT_EQ(found.timer, "cuda events");
    EXPECT_TRUE(found.blocking);
    EXPECT_GT(*found.host_ns, 20'000);
}

TEST(CudaTimer, ShowsTheGapsWithoutTheBlockingKernel) {
    SimStage stage("kernel 0 constant 5000");
    RunOptions options;
    options.batch = 1;
    Measurement found = stage.measure(with_a_gap, {.cold = false, .blocking = false}, options);
    EXPECT_GT(found.statistics.median, 25'000);
    EXPECT_FALSE(found.blocking);
}

TEST(CudaTimer, WritesOverTheCacheOnlyWhenCold) {
    {
        SimStage stage("kernel 0 constant 10000; cold 1.5");
        EXPECT_NEAR(stage.measure(one_kernel).statistics.median, 15'000, 0.01);
        EXPECT_GT(SimStage::calls("cuMemsetD8Async"), 20);
    }
    SimStage stage("kernel 0 constant 10000; cold 1.5");
    Measurement found = stage.measure(one_kernel, {.cold = false});
    EXPECT_NEAR(found.statistics.median, 10'000, 0.01);
    EXPECT_FALSE(found.cold);
    EXPECT_EQ(SimStage::calls("cuMemsetD8Async"), 0);
}

TEST(CudaTimer, PutsShortWorkIntoBatches) {
    SimStage stage("kernel 0 constant 700; resolution_ns 500");
    Measurement found = stage.measure(one_kernel, {.cold = false});
    EXPECT_GE(static_cast<double>(found.batch) * 700, 100'000 * 0.5);
    EXPECT_NEAR(found.statistics.median, 700, 700 * 0.01);
}

TEST(CudaTimer, ReplaysAGraph) {
    SimStage stage("kernel 0 constant 5000");
    Measurement found = stage.measure(on_a_stream, {.stream = kTimedStream, .cold = false, .graph = true});
    EXPECT_NEAR(found.statistics.median, 5000, 0.01);
    EXPECT_TRUE(found.graph);
    EXPECT_GE(SimStage::calls("cuGraphLaunch"), static_cast<std::int64_t>(found.statistics.count));
    EXPECT_EQ(SimStage::calls("cuGraphInstantiateWithFlags"), SimStage::calls("cuGraphExecDestroy"));
}

TEST(CudaTimer, SaysWhyThereIsNoGraph) {
    SimStage stage("kernel 0 constant 5000");
    Work work{.call = one_kernel};
    auto found = stage.run(std::span(&work, 1), {.graph = true});
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("legacy default stream"), std::string::npos) << found.error().message;
    Work other{.name = "other", .call = one_kernel};
    found = stage.run(std::span(&other, 1), {.stream = kTimedStream, .graph = true});
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("enqueued nothing on the stream"), std::string::npos) << found.error().message;
}

TEST(CudaTimer, GoesOnWithoutTheBlockingKernelWhenTheWorkWaits) {
    SimStage stage("kernel 0 constant 10000");
    Measurement found = stage.measure(waits);
    EXPECT_FALSE(found.blocking);
    EXPECT_EQ(found.invalid, 2U);
    EXPECT_NE(all_notes(found).find("waits for the device"), std::string::npos);
    EXPECT_GE(found.statistics.median, 10'000);
}

TEST(CudaTimer, HalvesTheBatchUntilItFitsTheQueue) {
    SimStage stage("kernel 0 constant 100; queue 64");
    Measurement found = stage.measure(eight_kernels, {.cold = false});
    EXPECT_LE(found.batch * 8, 64);
    EXPECT_GT(found.invalid, 0U);
    EXPECT_TRUE(found.blocking);
    EXPECT_NEAR(found.statistics.median, 800, 0.01);
}

TEST(CudaTimer, SeesWorkOnAnotherStream) {
    SimStage stage("kernel 0 constant 10000; kernel 1 constant 400000");
    Measurement found = stage.measure(elsewhere);
    EXPECT_GT(*found.stray_ns, 300'000);
    EXPECT_NE(all_notes(found).find("another stream"), std::string::npos);
    SimStage honest("kernel 0 constant 10000");
    EXPECT_EQ(all_notes(honest.measure(one_kernel)).find("another stream"), std::string::npos);
}

TEST(CudaTimer, TakesTheCurrentContextOrThePrimaryOne) {
    {
        SimStage stage("current; kernel 0 constant 10000");
        stage.measure(one_kernel);
        EXPECT_EQ(SimStage::calls("cuDevicePrimaryCtxRetain"), 0);
    }
    SimStage stage("kernel 0 constant 10000");
    stage.measure(one_kernel);
    EXPECT_EQ(SimStage::calls("cuDevicePrimaryCtxRetain"), 1);
    EXPECT_EQ(SimStage::calls("cuDevicePrimaryCtxRelease_v2"), 1);
    EXPECT_EQ(SimStage::allocated(), 0U);
}

TEST(CudaTimer, ReadsMemory) {
    SimStage stage("memory 1000000000; l2 1000000");
    auto timer = stage.timer();
    ASSERT_TRUE(timer.ok());
    auto memory = (*timer)->memory();
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory->total_bytes, 1'000'000'000U);
    EXPECT_EQ(memory->free_bytes, 999'000'000U);
}

TEST(CudaTimer, ColdNeedsMemoryAndSaysSo) {
    SimStage stage("memory 1000000");
    auto timer = stage.timer();
    ASSERT_FALSE(timer.ok());
    EXPECT_NE(timer.error().message.find("out of memory"), std::string::npos);
    EXPECT_TRUE(stage.timer({.cold = false}).ok());
}

int calls_until_failure = 0;
int fails_later(void*) {
    SimStage::launch(0);
    return calls_until_failure-- > 0 ? 0 : 7;
}

TEST(CudaTimer, LetsGoOfTheStreamWhenTheWorkFails) {
    SimStage stage("kernel 0 constant 10000");
    auto timer = stage.timer();
    ASSERT_TRUE(timer.ok());
    for (int calls : {0, 3, 3000}) {
        calls_until_failure = calls;
        Work work{.name = "bad", .call = fails_later};
        auto found = run(std::span(&work, 1), **timer, {}, {});
        ASSERT_FALSE(found.ok());
        EXPECT_EQ(found.error().message, "'bad' ended the benchmark: its call returned 7");
    }
    TimeNs before = SimStage::now();
    SimStage::synchronize();
    EXPECT_LT(SimStage::now() - before, 1'000'000);
}

// Every call of the driver, failing from the first time or later, ends in one sentence that names it, or does not matter.
TEST(CudaTimer, EveryFailingCallIsOneSentence) {
    const char* functions[] = {
#define GPUPROF_NAME(member, newest, older, parameters) newest,
        GPUPROF_CUDA_FUNCTIONS(GPUPROF_NAME)
#undef GPUPROF_NAME
    };
    int said = 0;
    for (const std::string function : functions)
        for (int code : {1, 2, 100, 201, 700, 719, 999, 4711})
            for (const char* after : {"", " after 4"}) {
                SimStage stage("kernel 0 constant 10000; fail " + function + " " + std::to_string(code) + after);
                Work work{.call = on_a_stream};
                RunOptions options;
                options.stopping.min_time = 1'000'000;
                auto found = stage.run(std::span(&work, 1), {.stream = kTimedStream, .graph = true}, options);
                if (found.ok()) continue;
                ++said;
                const std::string& message = found.error().message;
                EXPECT_EQ(message.find('\n'), std::string::npos) << message;
                std::string stem = function.substr(0, function.find("_v2"));
                EXPECT_TRUE(message.find(stem) == 0 || message.find("'work'") == 0) << message << " for " << function;
                EXPECT_NE(message.find(std::to_string(code)), std::string::npos) << message;
            }
    EXPECT_GT(said, 200);
}

TEST(CudaTimer, NoDriverIsOneSentence) {
    setenv("GPUPROF_CUDA", "/nowhere/libcuda.so.1", 1);
    auto timer = make_cuda_timer({});
    unsetenv("GPUPROF_CUDA");
    ASSERT_FALSE(timer.ok());
    EXPECT_NE(timer.error().message.find("no CUDA driver found"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::measure
