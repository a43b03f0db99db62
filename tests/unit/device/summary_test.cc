// Statistics of a series against values worked out by hand.
#include "collect/device/summary.h"

#include <gtest/gtest.h>

#include "collect/device/repeats.h"

namespace gpuprof {
namespace {

Reading reading(TimeNs time, double util) {
    Reading reading;
    reading.time = time;
    reading.set(Metric::util_gpu, util);
    return reading;
}

DeviceSeries series_of(std::initializer_list<double> utils, std::size_t capacity = 100) {
    DeviceSeries series(SampledDevice{}, capacity, kSecond);
    TimeNs time = 0;
    for (double util : utils) series.add(reading(time += kSecond, util), 0);
    return series;
}

TEST(GpuSummary, StatisticsOfFiveSamples) {
    GpuSummary summary = series_of({0, 4, 50, 100, 96}).summary({0, 10 * kSecond});
    EXPECT_EQ(summary.n_samples, 5);
    EXPECT_DOUBLE_EQ(*summary.duration_s, 10);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_mean, 50);
    EXPECT_NEAR(*summary.util_gpu_std, 48.04165, 1e-4);  // sqrt(9232 / 4)
    EXPECT_DOUBLE_EQ(*summary.util_gpu_min, 0);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_max, 100);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_p50, 50);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_p5, 0.8);    // rank 0.2 between 0 and 4
    EXPECT_DOUBLE_EQ(*summary.util_gpu_p95, 99.2);  // rank 3.8 between 96 and 100
    EXPECT_DOUBLE_EQ(*summary.idle_pct, 40);        // below 5
    EXPECT_DOUBLE_EQ(*summary.active_pct, 60);      // 50 and more
    EXPECT_DOUBLE_EQ(*summary.busy_time_est_s, 5);
    EXPECT_EQ(summary.sparkline, "▁▁▅██");
}

TEST(GpuSummary, WhatWasNotMeasuredIsAbsent) {
    GpuSummary summary = series_of({10}).summary({0, kSecond});
    EXPECT_FALSE(summary.util_gpu_std);
    EXPECT_FALSE(summary.power_mean_w || summary.energy_j || summary.mem_total_mb || summary.throttle_pct);
    EXPECT_NE(to_json(summary).find("\"power_mean_w\": null"), std::string::npos);
    GpuSummary empty = series_of({}).summary({0, kSecond});
    EXPECT_EQ(empty.n_samples, 0);
    EXPECT_FALSE(empty.util_gpu_mean || empty.util_gpu_p50 || empty.busy_time_est_s);
}

TEST(GpuSummary, WarmupIsKeptButNotCounted) {
    DeviceSeries series(SampledDevice{}, 100, kSecond);
    series.add(reading(1 * kSecond, 0), 2 * kSecond);
    series.add(reading(2 * kSecond, 80), 2 * kSecond);
    series.add(reading(3 * kSecond, 90), 2 * kSecond);
    EXPECT_EQ(series.kept().in_order().size(), 3u);
    GpuSummary summary = series.summary({2 * kSecond, 4 * kSecond});
    EXPECT_EQ(summary.n_samples, 2);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_mean, 85);
    EXPECT_DOUBLE_EQ(*summary.util_gpu_p5, 80.5);
}

TEST(GpuSummary, EnergySaysItsBasisAndUncertainty) {
    DeviceSeries counted(SampledDevice{}, 100, kSecond), integrated(SampledDevice{}, 100, kSecond);
    for (int i = 0; i <= 400; ++i) {
        Reading sample;
        sample.time = i * kSecond / 10;
        sample.set(Metric::power, 200);
        integrated.add(sample, 0);
        sample.set(Metric::energy, 1000 + 21 * i);
        counted.add(sample, 0);
    }
    RegionBounds region{0, 40 * kSecond};
    GpuSummary by_counter = counted.summary(region), by_power = integrated.summary(region);
    EXPECT_EQ(by_counter.energy_basis, "counter");
    EXPECT_DOUBLE_EQ(*by_counter.energy_j, 40 * 210);
    EXPECT_EQ(by_power.energy_basis, "power");
    EXPECT_DOUBLE_EQ(*by_power.energy_j, 40 * 200);
    EXPECT_DOUBLE_EQ(*by_power.energy_uncertainty_j, 0.6 * 1500);  // steady: nothing but what may lie at the ends
    EXPECT_NE(to_text(by_power).find("8000 +- 900 J"), std::string::npos) << to_text(by_power);
}

TEST(GpuSummary, ThrottleReasonsHaveTheirShares) {
    DeviceSeries series(SampledDevice{}, 100, kSecond);
    for (double bits : {0.0, 1.0, 4.0, 0x20 + 4.0, 0x80 + 0.0}) {
        Reading sample;
        sample.time += kSecond;
        sample.set(Metric::throttle, bits);
        series.add(sample, 0);
    }
    GpuSummary summary = series.summary({0, kSecond});
    EXPECT_DOUBLE_EQ(*summary.throttle_pct, 60);  // idle (bit 0) is nobody's brake
    EXPECT_DOUBLE_EQ(*summary.throttle_power_pct, 40);
    EXPECT_DOUBLE_EQ(*summary.throttle_thermal_pct, 20);
    EXPECT_DOUBLE_EQ(*summary.throttle_hw_pct, 20);
}

// The stated error of a choice holds for uniform samples, whose p-th percentile is p.
TEST(GpuSummary, PercentilesOfAChoiceStateTheirError) {
    DeviceSeries series(SampledDevice{}, 1000, kSecond);
    for (int i = 0; i < 200'000; ++i) series.add(reading(i, (i * 7919) % 100'001 / 1000.0), 0);
    GpuSummary summary = series.summary({0, 200'000});
    EXPECT_EQ(series.kept().chosen().size(), 1000u);
    EXPECT_EQ(summary.n_samples, 200'000);
    EXPECT_NEAR(*summary.util_gpu_p50, 50, 4.3);
    EXPECT_NEAR(*summary.util_gpu_p95, 95, 4.3);
    ASSERT_FALSE(summary.notes.empty());
    EXPECT_NE(summary.notes[0].find("within 4.29 percentage points"), std::string::npos) << summary.notes[0];
}

TEST(GpuSummary, PatternsAreToldApart) {
    auto pattern = [](std::initializer_list<double> utils) { return series_of(utils).summary({0, kSecond}).pattern; };
    EXPECT_EQ(pattern({95, 97, 99, 100}), "steady");
    EXPECT_EQ(pattern({0, 0, 100, 100, 0, 100}), "bursty");
    EXPECT_EQ(pattern({0, 0, 1, 0}), "idle");
    EXPECT_EQ(pattern({30, 40, 35, 30}), "starved");
    EXPECT_EQ(pattern({100}), "unknown");
}

TEST(TimeBins, MergeWhenTheyOutgrowTheirRoom) {
    TimeBins slices(10);
    for (int i = 0; i < 10'000; ++i) slices.add(i, i < 5'000 ? 0 : 100);
    std::vector<std::optional<double>> means = slices.means();
    ASSERT_LE(means.size(), TimeBins::kBins);
    ASSERT_GE(means.size(), TimeBins::kBins / 2);
    EXPECT_EQ(means.front(), 0.0);
    EXPECT_EQ(means.back(), 100.0);
    TimeBins gap(10);
    gap.add(0, 50);
    gap.add(35, 50);
    EXPECT_EQ(sparkline(gap.means()), "▅  ▅");
}

TEST(RunStats, OverRunsThatHaveTheFigure) {
    std::vector<GpuSummary> runs(3);
    runs[0].duration_s = 1, runs[1].duration_s = 2, runs[2].duration_s = 3;
    runs[1].power_mean_w = 100;
    std::vector<RunStats> stats = run_stats(runs);
    ASSERT_EQ(stats.size(), 2u);
    EXPECT_EQ(stats[0].name, "duration");
    EXPECT_DOUBLE_EQ(stats[0].mean, 2);
    EXPECT_DOUBLE_EQ(*stats[0].std, 1);
    EXPECT_EQ(stats[1].values, std::vector<double>{100});
    EXPECT_FALSE(stats[1].std);
}

}  // namespace
}  // namespace gpuprof
