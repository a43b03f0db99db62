// The nvidia-smi source against a fake program that plays scripts. Waits by condition, never by a fixed time.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "collect/device/smi/smi_source.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "tests/unit/source_folder.h"

namespace gpuprof {
namespace {

// A busy machine takes over a second to start the fake program, which an unnamed field makes start for every field.
constexpr DurNs kEndless = 600 * kSecond;
// Longer than any pause of the fake program on such a machine, so that only its script ends it.
constexpr DurNs kNeverSilent = 60 * kSecond;
// For scripts whose point is the silence.
constexpr DurNs kSoonSilent = 4 * kSecond;

class SmiStage {
public:
    explicit SmiStage(const std::string& script, SourceRequest request = all_devices(), DurNs silence = kNeverSilent,
                      int restarts = 3)
        : opened(open(script, request, silence, restarts)) {}
    ~SmiStage() {
        setenv("PATH", path_.c_str(), 1);
        std::filesystem::remove(script_path);
        std::filesystem::remove(script_path + ".starts");
    }
    static SourceRequest all_devices() {
        SourceRequest request;
        request.devices = "all";
        request.interval = 50'000'000;
        return request;
    }

    // Turns until `enough` holds; everything that came is kept. False after minutes.
    bool until(const std::function<bool()>& enough) {
        for (TimeNs end = monotonic_ns() + kEndless; monotonic_ns() < end && !enough();) {
            (*opened)->collect(MetricSet::all(), all);
            usleep(5000);
        }
        return enough();
    }
    bool has(std::string_view text) const { return said().find(text) != std::string::npos; }
    std::string said() const {
        std::string text;
        for (const Fault& fault : all.faults) text += fault.sentence + "\n";
        return text;
    }
    std::vector<double> values(Metric metric, std::int32_t device = 0) const {
        std::vector<double> found;
        for (const Reading& reading : all.readings)
            if (reading.device == device && reading.get(metric)) found.push_back(*reading.get(metric));
        return found;
    }
    std::string error() const { return opened ? "" : opened.error().message; }

    std::string script_path;
    PollResult all;

private:
    std::string path_ = getenv("PATH");

public:
    Result<std::unique_ptr<DeviceSource>> opened;

private:
    Result<std::unique_ptr<DeviceSource>> open(const std::string& script, const SourceRequest& request, DurNs silence,
                                               int restarts) {
        static int number = 0;
        script_path = ::testing::TempDir() + "gpuprof_smi_" + std::to_string(getpid()) + "_" + std::to_string(number++);
        std::ofstream(script_path) << script;
        setenv("GPUPROF_FAKE_SMI", script_path.c_str(), 1);
        setenv("PATH", (source_folder() + "/tests/fakes/smi:" + path_).c_str(), 1);
        return nvidia_smi::open(
            request,
            {.start = kEndless, .silence = silence, .restart_first = 0, .restart_max = 0, .restarts = restarts});
    }
};

TEST(SmiSource, SeriesOfTwoGpus) {
    SmiStage stage(
        "gpu\ngpu name=NVIDIA_L4\nseries 0 utilization.gpu 10 20 30\nset 1 utilization.gpu 77\nset 1 power.draw "
        "71.5\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    DeviceSource& source = **stage.opened;
    EXPECT_EQ(source.name(), "smi");
    ASSERT_EQ(source.devices().size(), 2u);
    EXPECT_EQ(source.devices()[1].name, "NVIDIA L4");
    EXPECT_EQ(source.devices()[0].uuid, "GPU-00000000-0000-0000-0000-000000000000");
    EXPECT_EQ(source.devices()[0].power_limit_w, 700);
    ASSERT_TRUE(stage.until([&] { return stage.values(Metric::util_gpu).size() >= 4; })) << stage.said();
    std::vector<double> first = stage.values(Metric::util_gpu);
    EXPECT_EQ((std::vector<double>{first.begin(), first.begin() + 4}), (std::vector<double>{10, 20, 30, 30}));
    EXPECT_EQ(stage.values(Metric::power, 1).at(0), 71.5);
    EXPECT_EQ(stage.values(Metric::throttle, 1).at(0), 0);
    EXPECT_EQ(stage.said(), "");
    EXPECT_GT(stage.all.readings.back().time, stage.all.readings.front().time);
}

TEST(SmiSource, ValuesWithUnitsAndDecimalCommas) {
    SmiStage stage("gpu\nmixed\nset 0 power.draw 412,50\nset 0 utilization.gpu 37\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_TRUE(stage.until([&] { return !stage.values(Metric::power).empty(); }));
    EXPECT_EQ(stage.values(Metric::power)[0], 412.5);
    EXPECT_EQ(stage.values(Metric::util_gpu)[0], 37);
}

TEST(SmiSource, UnknownFieldsAreExchangedOrDropped) {
    SmiStage stage("gpu\nunknown clocks_event_reasons.active\nunknown ecc.errors.corrected.volatile.total\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_TRUE(stage.until([&] { return !stage.values(Metric::util_gpu).empty(); }));
    EXPECT_EQ(stage.values(Metric::throttle).size(), stage.values(Metric::util_gpu).size());
    EXPECT_TRUE(stage.values(Metric::ecc_corrected).empty());
    EXPECT_EQ(stage.said(), "GPU 0 does not report ecc.corrected: this nvidia-smi lacks the field.\n");
}

TEST(SmiSource, UnknownFieldsThatAreNotNamedAreFound) {
    SmiStage stage("gpu\nunknown pstate quietly\nunknown count quietly\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_TRUE(stage.until([&] { return !stage.values(Metric::power).empty(); }));
    EXPECT_TRUE(stage.values(Metric::pstate).empty());
    EXPECT_EQ(stage.said(), "GPU 0 does not report pstate: this nvidia-smi lacks the field.\n");
}

TEST(SmiSource, WhatIsNotSupportedIsSaidInOneSentence) {
    SmiStage stage(
        "gpu\nset 0 power.draw [N/A]\nset 0 pcie.link.gen.current [N/A]\nset 0 temperature.gpu [Unknown_Error]\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_TRUE(stage.until([&] { return stage.values(Metric::util_gpu).size() >= 3; }));
    EXPECT_TRUE(stage.values(Metric::power).empty());
    EXPECT_EQ(stage.said(),
              "GPU 0 does not report power and pcie.gen: nvidia-smi prints [N/A].\n"
              "GPU 0 does not report temp: nvidia-smi prints [Unknown Error]; in a container, restart it if this "
              "persists.\n");
}

TEST(SmiSource, AGpuThatNeedsAResetAndOneThatIsGone) {
    // Where the fake program gets no CPU that long, the source says that it was silent, and the script begins anew:
    // then it plays once more, with more patience.
    for (DurNs silence = kSoonSilent;; silence *= 4) {
        SmiStage stage("gpu\ngpu\nseries 0 power.draw 100 [GPU_requires_reset] 100\ndrop 1 after 3\n",
                       SmiStage::all_devices(), silence);
        ASSERT_TRUE(stage.opened) << stage.error();
        ASSERT_TRUE(stage.until([&] {
            return stage.has("GPU 1 stopped responding: nvidia-smi no longer lists it") || stage.has("(no output for ");
        })) << stage.said();
        if (stage.has("(no output for ") && silence < kNeverSilent) continue;
        EXPECT_TRUE(
            stage.has("GPU 0 stopped responding: the GPU needs a reset; run nvidia-smi --gpu-reset, or reboot."));
        EXPECT_EQ(stage.values(Metric::util_gpu, 1).size(), 3u);
        break;
    }
}

TEST(SmiSource, AProgramThatDiesIsStartedAgain) {
    for (std::string end : {"exit 3 NVML:_Driver/library_version_mismatch", "crash", "hang"}) {
        // Where starting takes longer than the silence that ends a program, the next start may be faster.
        bool hangs = end == "hang";
        SmiStage stage("gpu\nset 0 utilization.gpu 40\n" + end + " after 2 start 1\n", SmiStage::all_devices(),
                       hangs ? kSoonSilent : kNeverSilent, hangs ? 100 : 3);
        ASSERT_TRUE(stage.opened) << stage.error();
        ASSERT_TRUE(stage.until([&] { return stage.has("nvidia-smi responds again after"); })) << end << stage.said();
        EXPECT_TRUE(stage.has(end == "crash" ? "nvidia-smi ended (signal 9) and is being restarted."
                              : hangs
                                  ? "nvidia-smi ended (no output for "
                                  : "nvidia-smi ended (exit status 3: NVML: Driver/library version mismatch) and is"))
            << stage.said();
        EXPECT_TRUE(stage.all.faults[0].lost);
        std::size_t before = stage.values(Metric::util_gpu).size();
        EXPECT_TRUE(stage.until([&] { return stage.values(Metric::util_gpu).size() > before; }));
    }
}

TEST(SmiSource, AProgramThatDoesNotComeBackIsGivenUp) {
    SmiStage stage(
        "gpu\nexit 9 gone after 2 start 1\nexit 9 gone start 2\nexit 9 gone start 3\nexit 9 gone start 4\nexit 9 gone "
        "start 5\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_TRUE(stage.until([&] { return stage.has("giving up"); })) << stage.said();
    EXPECT_EQ(stage.said(),
              "nvidia-smi ended (exit status 9: gone) and is being restarted.\n"
              "nvidia-smi failed 4 times in a row (exit status 9: gone); giving up.\n");
}

TEST(SmiSource, WhyItCannotBeHad) {
    EXPECT_NE(SmiStage("").error().find("/nvidia-smi printed no rows (exit status 6: No devices were found)"),
              std::string::npos);
    EXPECT_NE(SmiStage("gpu\nexit 18 Failed_to_initialize_NVML:_Driver/library_version_mismatch\n")
                  .error()
                  .find("printed no rows (exit status 18: Failed to initialize NVML: Driver/library version mismatch)"),
              std::string::npos);
    SourceRequest request = SmiStage::all_devices();
    request.devices = "3";
    EXPECT_EQ(SmiStage("gpu\n", request).error(), "unknown device '3'; the program sees 1 device, numbered from 0");
    std::string path = getenv("PATH");
    setenv("PATH", "/nonexistent", 1);
    Result<std::unique_ptr<DeviceSource>> none = open_smi(request);
    setenv("PATH", path.c_str(), 1);
    if (none) GTEST_SKIP() << "this machine has nvidia-smi in /usr/bin";
    EXPECT_EQ(none.error().message.find("nvidia-smi not found in PATH"), 0u) << none.error().message;
}

}  // namespace
}  // namespace gpuprof
