// The stopwatch on the simulated device: its own time, what is beyond the stream, and a stream that is held.
#include "measure/cuda_stopwatch.h"

#include "capi/gpuprof.h"
#include "tests/unit/measure/sim_fixture.h"

namespace gpuprof::measure {
namespace {

constexpr std::uint64_t kStream = 0x10, kOther = 0x20;

// What a lap of `work` is.
template <class Work>
Result<Lap> lap_of(Work&& work, bool hold = false) {
    Result<CudaStopwatch> opened = CudaStopwatch::open(SimStage::clock());
    if (!opened.ok()) return opened.error();
    CudaStopwatch& watch = *opened;
    Status started = watch.start(kStream, hold);
    if (!started) return started.error();
    work();
    Status stopped = watch.stop();
    if (!stopped) return stopped.error();
    return watch.read();
}

void two_with_a_gap() {
    SimStage::launch(0, kStream);
    SimStage::spend(20'000);
    SimStage::launch(0, kStream);
}

TEST(CudaStopwatch, HasTheGapsUnlessTheStreamIsHeld) {
    SimStage stage("current; kernel 0 constant 5000");
    Result<Lap> lap = lap_of(two_with_a_gap), held = lap_of(two_with_a_gap, true);
    ASSERT_TRUE(lap.ok() && held.ok());
    EXPECT_GT(lap->device_ns, 25'000);
    EXPECT_FALSE(lap->held);
    EXPECT_NEAR(held->device_ns, 10'000, 0.01);
    EXPECT_TRUE(held->held);
    EXPECT_LE(lap->beyond_ns, lap->idle_wait_ns);
}

TEST(CudaStopwatch, SaysWhatIsBeyondTheStream) {
    SimStage stage("current; kernel 0 constant 5000; kernel 1 constant 900000");
    Result<Lap> lap = lap_of([] { SimStage::launch(1, kOther), SimStage::launch(0, kStream); });
    ASSERT_TRUE(lap.ok());
    EXPECT_LT(lap->device_ns, 20'000);
    EXPECT_GT(lap->beyond_ns, 800'000);
    EXPECT_LT(lap->idle_wait_ns, 10'000);
}

TEST(CudaStopwatch, LetsGoOfWorkThatWaits) {
    SimStage stage("current; kernel 0 constant 5000");
    Result<Lap> lap = lap_of([] { SimStage::launch(0, kStream), SimStage::synchronize(); }, true);
    ASSERT_TRUE(lap.ok());
    EXPECT_FALSE(lap->held);
}

TEST(CudaStopwatch, FollowsTheContext) {
    SimStage stage("kernel 0 constant 5000");
    EXPECT_EQ(lap_of([] {}).error().message.rfind("cuCtxGetCurrent returned 201: ", 0), 0U);
    stage.function<int(const char*, int)>("fake_cuda_set")("current", 0);
    EXPECT_TRUE(lap_of([] {}).ok());
}

TEST(CudaStopwatch, TellsOfEveryFailure) {
    for (const char* function : {"cuEventCreate", "cuEventRecord", "cuCtxSynchronize", "cuEventSynchronize",
                                 "cuEventElapsedTime", "cuModuleLoadData", "cuLaunchKernel"}) {
        SimStage stage("current; fail " + std::string(function) + " 719");
        Result<Lap> lap = lap_of([] {}, true);
        ASSERT_FALSE(lap.ok()) << function;
        EXPECT_EQ(lap.error().message.rfind(function, 0), 0U) << lap.error().message;
    }
}

TEST(CudaStopwatch, HasACInterface) {
    SimStage stage("current; kernel 0 constant 5000; latency_ns 0");  // its host does not wait
    gpuprof_stopwatch* watch = nullptr;
    ASSERT_EQ(gpuprof_stopwatch_open(&watch), 0) << gpuprof_last_error();
    EXPECT_EQ(gpuprof_stopwatch_start(watch, kStream, 1), 0);
    SimStage::launch(0, kStream);
    EXPECT_EQ(gpuprof_stopwatch_stop(watch), 0);
    gpuprof_lap lap = {};
    EXPECT_EQ(gpuprof_stopwatch_read(watch, &lap), 2) << "a structure of no size";
    lap.size = sizeof lap;
    EXPECT_EQ(gpuprof_stopwatch_read(watch, &lap), 0) << gpuprof_last_error();
    EXPECT_NEAR(lap.device_ns, 5000, 0.01);
    EXPECT_EQ(lap.held, 1);
    gpuprof_stopwatch_free(watch);
    gpuprof_stopwatch_free(nullptr);
    EXPECT_EQ(gpuprof_stopwatch_open(nullptr), 2);
    EXPECT_EQ(gpuprof_stopwatch_start(nullptr, 0, 0), 2);
}

}  // namespace
}  // namespace gpuprof::measure
