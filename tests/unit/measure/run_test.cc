// The loop on the simulated device: when it begins, what it leaves out, when it ends, and what it says.
#include "measure/bench_run.h"

#include <cmath>

#include "core/base/files/sink.h"
#include "measure/bench.h"
#include "measure/timer.h"
#include "tests/unit/device/nvml_fixture.h"
#include "tests/unit/measure/sim_fixture.h"

namespace gpuprof::measure {
namespace {

int kernel_of_run(void*) { return SimStage::launch(0), 0; }
int kernel_1(void*) { return SimStage::launch(1), 0; }

TEST(Run, SettlesOnAKernelOfTenMicrosecondsWithinTwoSeconds) {
    for (const char* kernel :
         {"kernel 0 normal 10000 0.01 1", "kernel 0 lognormal 10000 0.05 2", "kernel 0 bimodal 10000 0.01 3"})
        for (bool cold : {true, false}) {
            SimStage stage(kernel);
            Measurement found = stage.measure(kernel_of_run, {.cold = cold});
            EXPECT_LT(SimStage::now(), 2'000'000'000) << kernel;
            EXPECT_EQ(found.stopped, StopReason::precise) << kernel;
            EXPECT_TRUE(found.warmup.settled) << kernel;
            EXPECT_NEAR(found.statistics.median, 10'000, 500) << kernel;
            EXPECT_LE(*found.statistics.precision, 0.005);
        }
}

TEST(Run, WarmsUpUntilTimesSettle) {
    SimStage stage("kernel 0 constant 1000000; first 0 100 30");
    Measurement found = stage.measure(kernel_of_run);
    EXPECT_GE(found.warmup.calls, 100U);
    EXPECT_TRUE(found.warmup.settled);
    EXPECT_NEAR(found.warmup.first_ns, 30e6, 30e6 * 1e-6);
    EXPECT_NEAR(found.statistics.max, 1e6, 1e6 * 1e-6);
}

TEST(Run, LeavesOutWhatWasTakenWhileClocksWereHeldDown) {
    SimStage stage("kernel 0 constant 10000; throttle 100000000 180000000 1.5");
    Measurement found = stage.measure(kernel_of_run, {.cold = false}, {}, SimStage::state);
    EXPECT_GT(found.throttled_left_out, 0U);
    EXPECT_EQ(found.throttled_kept, 0U);
    EXPECT_NEAR(found.statistics.max, 10'000, 10'000 * 1e-6);
    EXPECT_EQ(found.conditions.throttle, "heat");
    EXPECT_EQ(*found.conditions.sm_clock_min_mhz, 1200);
}

TEST(Run, KeepsThemWhenAskedTo) {
    SimStage stage("kernel 0 constant 10000; throttle 100000000 180000000 1.5");
    RunOptions options;
    options.keep_throttled = true;
    Measurement found = stage.measure(kernel_of_run, {.cold = false}, options, SimStage::state);
    EXPECT_EQ(found.throttled_left_out, 0U);
    EXPECT_GT(found.throttled_kept, 0U);
    EXPECT_NEAR(found.statistics.max, 15'000, 1);
}

TEST(Run, KeepsThemAndSaysSoWhenNothingElseIsToBeHad) {
    SimStage stage("kernel 0 constant 10000; throttle 0 1e18 1.5");
    Measurement found = stage.measure(kernel_of_run, {.cold = false}, {}, SimStage::state);
    EXPECT_NEAR(found.statistics.median, 15'000, 1);
    EXPECT_GT(found.throttled_kept, 0U);
    EXPECT_NE(all_notes(found).find("clocks stayed throttled (heat)"), std::string::npos);
}

TEST(Run, TellsDriftAndTwoModes) {
    SimStage drifting("kernel 0 normal 10000 0.001 4; drift 2");
    EXPECT_NE(all_notes(drifting.measure(kernel_of_run)).find("times increased"), std::string::npos);
    SimStage bimodal("kernel 0 bimodal 1000000 0.005 5");
    EXPECT_NE(all_notes(bimodal.measure(kernel_of_run)).find("two values"), std::string::npos);
    SimStage plain("kernel 0 normal 1000000 0.01 6");
    EXPECT_EQ(all_notes(plain.measure(kernel_of_run)), "");
}

TEST(Run, StopsAtTheTimeOutAndSaysHowPreciseItIs) {
    SimStage stage("kernel 0 lognormal 1000000 0.8 7");
    RunOptions options;
    options.stopping.timeout = 300'000'000;
    Measurement found = stage.measure(kernel_of_run, {}, options);
    EXPECT_EQ(found.stopped, StopReason::timeout);
    EXPECT_NE(all_notes(found).find("timeout"), std::string::npos);
}

TEST(Run, TakesExactlyTheSamplesAskedFor) {
    SimStage stage("kernel 0 normal 10000 0.01");
    RunOptions options;
    options.stopping.rule = StopRule::samples, options.stopping.min_samples = 123;
    EXPECT_EQ(stage.measure(kernel_of_run, {}, options).samples.size(), 123U);
    options.stopping = {.precision = 1e-9, .min_samples = 5, .max_samples = 777};
    Measurement found = stage.measure(kernel_of_run, {}, options);
    EXPECT_EQ(found.samples.size(), 777U);
    EXPECT_EQ(found.stopped, StopReason::max_samples);
}

TEST(Run, FindsThreePercentBetweenTwoThatTakeTurns) {
    for (auto [second, verdict] : {std::pair{"9700", SpeedVerdict::faster}, std::pair{"10300", SpeedVerdict::slower},
                                   std::pair{"10000", SpeedVerdict::same}}) {
        SimStage stage(std::string("kernel 0 normal 10000 0.01 8; drift 0.2; kernel 1 normal ") + second + " 0.01 9");
        Work works[] = {{.name = "a", .call = kernel_of_run}, {.name = "b", .call = kernel_1}};
        auto found = stage.run(works);
        ASSERT_TRUE(found.ok());
        EXPECT_EQ((*found)[0].samples.size(), (*found)[1].samples.size());
        Comparison compared = compare((*found)[0].samples, (*found)[1].samples, {.paired = true});
        EXPECT_EQ(compared.verdict, verdict) << compared.reason;
        EXPECT_EQ((*found)[1].stopped, StopReason::precise);
        EXPECT_FALSE((*found)[0].energy_per_call_j);
    }
}

TEST(Run, SaysEnergyClocksAndRates) {
    SimStage stage("kernel 0 constant 1000000");
    RunOptions options;
    options.bytes = 2e6, options.flops = 3e6;
    Measurement found = stage.measure(kernel_of_run, {.cold = false}, options, SimStage::state);
    EXPECT_NEAR(*found.cycles, 1.98e6, 1);
    EXPECT_NEAR(*found.bytes_per_s, 2e9, 1);
    EXPECT_NEAR(*found.flop_per_s, 3e9, 1);
    // 500 W for a little over the 1 ms that one call takes.
    EXPECT_GT(*found.energy_per_call_j, 0.5);
    EXPECT_LT(*found.energy_per_call_j, 0.55);
    EXPECT_EQ(found.conditions.energy_basis, "counter");
    EXPECT_GT(*found.energy_per_call_uncertainty_j, 0);
    EXPECT_LT(*found.energy_per_call_uncertainty_j, *found.energy_per_call_j / 2);
}

TEST(Run, IsARowAndAnObject) {
    SimStage stage("kernel 0 normal 10000 0.01");
    Measurement found = stage.measure(kernel_of_run);
    ResultTable table = table_of(std::span(&found, 1));
    ASSERT_EQ(table.rows(), 1U);
    EXPECT_EQ(std::get<double>(table.cell(0, table.column("median"))), found.statistics.median);
    EXPECT_EQ(std::get<std::string_view>(table.cell(0, table.column("timer"))), "cuda events");
    StringSink sink;
    JsonWriter json(sink);
    write_json(found, json);
    EXPECT_NE(sink.text().find("\"timer\":"), std::string::npos);
    EXPECT_NE(sink.text().find("\"energy_per_call_j\": null"), std::string::npos) << sink.text().substr(0, 1500);
}

TEST(Run, TimesFunctionsOfTheHostByTheSameLoop) {
    SimStage stage("");
    auto timer = make_host_timer(SimStage::clock());
    static auto work_for_30_us = [](void*) { return SimStage::spend(30'000), 0; };
    Work work{.call = work_for_30_us};
    auto found = run(std::span(&work, 1), *timer, {}, {});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ((*found)[0].timer, "host");
    EXPECT_EQ((*found)[0].batch, 4);
    EXPECT_NEAR((*found)[0].statistics.median, 30'000, 30'000 * 1e-6);
    EXPECT_FALSE((*found)[0].host_ns);
}

TEST(Bench, MeasuresFunctionObjects) {
    BenchOptions options;
    options.timer = "host";
    options.run.stopping.min_time = 1'000'000, options.run.stopping.timeout = 200'000'000;
    int calls = 0;
    double value = 2;
    auto found = bench(
        "root", [&] { ++calls, value = std::sqrt(value + calls); }, options);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->name, "root");
    EXPECT_GT(calls, static_cast<int>(found->statistics.count));
    options.timer = "sundial";
    EXPECT_FALSE(bench(
                     "root", [] {}, options)
                     .ok());
}

TEST(DeviceState, ComesFromNvml) {
    NvmlStage stage("device\nset 0 sm_clock_mhz 1500\nset 0 throttle_reasons 4\nseries 0 energy_j 100 130\n");
    // One change of the counter does not tell how often it moves: no energy.
    auto read = open_device_state(0);
    ASSERT_TRUE(read.ok()) << read.error().message;
    DeviceWatch watch(*read);
    watch.begin();
    EXPECT_TRUE(watch.is_throttled());
    watch.end();
    DeviceConditions found = watch.conditions();
    EXPECT_EQ(*found.sm_clock_mhz, 1500);
    EXPECT_EQ(found.throttle, "power");
    EXPECT_FALSE(found.energy_j);
    EXPECT_FALSE(open_device_state(7).ok());
}

TEST(DeviceState, UnknownIsAbsentAndNeverThrottled) {
    DeviceWatch watch({});
    watch.begin();
    EXPECT_FALSE(watch.is_throttled());
    watch.end();
    EXPECT_EQ(watch.conditions().readings, 0U);
    EXPECT_FALSE(watch.conditions().sm_clock_mhz);
}

TEST(Run, NeedsAFunction) {
    auto timer = make_host_timer();
    EXPECT_FALSE(run({}, *timer, {}, {}).ok());
    Work nothing;
    EXPECT_FALSE(run(std::span(&nothing, 1), *timer, {}, {}).ok());
}

}  // namespace
}  // namespace gpuprof::measure
