// The C interface: options are checked, errors are said, columns are what the summary counted.
#include "capi/gpuprof.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "tests/unit/source_folder.h"

namespace {

using gpuprof::kSecond;
using gpuprof::monotonic_ns;
using gpuprof::TimeNs;

const std::string kSeries = "replay:" + gpuprof::source_folder() + "/tests/fixtures/nvml/bursty.csv@max";

gpuprof_monitor_options options() {
    gpuprof_monitor_options options{};
    options.size = sizeof options;
    options.backend = kSeries.c_str();
    options.start_timeout_ns = 60'000'000'000;  // a sanitizer's sampler on a busy machine takes seconds to start
    return options;
}

TEST(CApi, OneRegion) {
    gpuprof_monitor_options wanted = options();
    gpuprof_monitor* monitor = nullptr;
    ASSERT_EQ(gpuprof_monitor_open(&wanted, &monitor), 0) << gpuprof_last_error();
    ASSERT_EQ(gpuprof_monitor_start(monitor), 0) << gpuprof_last_error();
    // start() waits for the first readings, and stop() gives up on a sampler that gets no CPU for most of a second.
    for (TimeNs end = monotonic_ns() + 60 * kSecond;
         gpuprof_monitor_sample_count(monitor, 0) < 566 && monotonic_ns() < end;)
        usleep(1000);
    ASSERT_EQ(gpuprof_monitor_stop(monitor), 0);
    EXPECT_EQ(gpuprof_monitor_device_count(monitor), 1u);
    std::string json = gpuprof_monitor_summary_json(monitor, 0);
    EXPECT_NE(json.find("\"n_samples\": 566"), std::string::npos);
    std::string text = gpuprof_summary_text(json.c_str());
    EXPECT_NE(text.find("566 samples"), std::string::npos);
    EXPECT_EQ(gpuprof_monitor_sample_count(monitor, 0), 566u);
    std::vector<double> times(566), util(566), total(566);
    EXPECT_EQ(gpuprof_monitor_column(monitor, 0, "time_s", times.data(), 566), 566u);
    EXPECT_EQ(gpuprof_monitor_column(monitor, 0, "util_gpu", util.data(), 566), 566u);
    EXPECT_EQ(gpuprof_monitor_column(monitor, 0, "mem_total_mb", total.data(), 3), 566u);
    EXPECT_GE(times[0], 0);
    EXPECT_GT(times[565], times[0]);
    EXPECT_EQ(util[0], 100);
    EXPECT_TRUE(std::isnan(total[0]));
    EXPECT_EQ(gpuprof_monitor_summary_json(monitor, 1), nullptr);
    gpuprof_monitor_free(monitor);
}

TEST(CApi, WrongUseIsAnErrorWithASentence) {
    gpuprof_monitor* monitor = nullptr;
    gpuprof_monitor_options wanted = options();
    wanted.size = 1;
    EXPECT_EQ(gpuprof_monitor_open(&wanted, &monitor), 2);
    EXPECT_STRNE(gpuprof_last_error(), "");
    wanted = options();
    wanted.interval_ns = 5;
    EXPECT_EQ(gpuprof_monitor_open(&wanted, &monitor), 2);
    EXPECT_EQ(gpuprof_monitor_open(nullptr, &monitor), 2);
    EXPECT_EQ(gpuprof_monitor_start(nullptr), 2);
    gpuprof_monitor_free(nullptr);
    EXPECT_EQ(gpuprof_summary_text("{"), nullptr);
    EXPECT_EQ(gpuprof_summary_text("{\"util_gpu_mean\": \"much\"}"), nullptr);
    wanted = options();
    wanted.strict = 1;
    wanted.backend = "nonsense";
    EXPECT_EQ(gpuprof_monitor_open(&wanted, &monitor), 2);
    EXPECT_NE(std::string(gpuprof_last_error()).find("nonsense"), std::string::npos);
    wanted.backend = "replay:/no/such/file.csv";
    EXPECT_EQ(gpuprof_monitor_open(&wanted, &monitor), 3);
    EXPECT_NE(std::string(gpuprof_last_error()).find("/no/such/file.csv"), std::string::npos);
}

}  // namespace
