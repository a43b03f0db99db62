// The NVML source against a fake library that misbehaves: every function with every code, and what the user is told.
#include <bit>

#include "collect/device/nvml/nvml_errors.h"
#include "collect/device/nvml/nvml_symbols.def"
#include "tests/unit/device/nvml_fixture.h"

namespace gpuprof {
namespace {

constexpr const char* kFunctions[] = {
#define GPUPROF_NAME(need, name, older) #name,
    GPUPROF_NVML_FUNCTIONS(GPUPROF_NAME)
#undef GPUPROF_NAME
};

SourceRequest avoiding(const char* function) {
    SourceRequest request = all_devices();
    request.avoid = {function};
    return request;
}

constexpr unsigned kCodes[] = {1,  2,  3,  4,  6,  7,  9,  10, 12, 13, 14,  15,  16,
                               17, 18, 19, 20, 21, 25, 26, 27, 28, 29, 999, 4711};

void expect_sound(const PollResult& polled, const std::string& what) {
    for (const Reading& reading : polled.readings) {
        EXPECT_FALSE(reading.present.empty()) << what;
        EXPECT_EQ(reading.get(Metric::util_gpu).value_or(40), 40) << what;
        EXPECT_EQ(reading.get(Metric::mem_used).value_or(512), 512) << what;
        EXPECT_EQ(reading.get(Metric::power).value_or(134.05), 134.05) << what;
        EXPECT_EQ(reading.get(Metric::sm_clock).value_or(1980), 1980) << what;
    }
    for (const Fault& fault : polled.faults) {
        EXPECT_GT(fault.sentence.size(), 20u) << what;
        EXPECT_TRUE(fault.sentence.ends_with(".")) << what << fault.sentence;
        EXPECT_EQ(fault.sentence.find('\n'), std::string::npos) << what;
    }
}

// Whatever one function answers: values that come are right, what does not come is explained, and the rest goes on.
TEST(NvmlFaults, EveryFunctionWithEveryCode) {
    for (const char* function : kFunctions) {
        for (unsigned code : kCodes) {
            std::string what = std::string(function) + " " + std::to_string(code);
            NvmlStage stage("device\nset 0 util_gpu 40\nset 0 mem_used_mb 512\nprocess 0 1 100 10\nfail " + what +
                            "\n");
            if (!stage.opened) {
                EXPECT_GT(stage.error().size(), 20u) << what;
                continue;
            }
            MetricSet seen;
            bool told = false;
            for (int i = 0; i < 16; ++i) {
                PollResult polled = stage.collect();
                expect_sound(polled, what);
                told |= !polled.faults.empty();
                for (const Reading& reading : polled.readings) seen = seen | reading.present;
            }
            EXPECT_TRUE(told || seen == MetricSet::all()) << what;
            // One function never takes more than its own metrics along; what finds devices takes all.
            std::string_view name = function;
            MetricSet lacking(MetricSet::all().bits() & ~seen.bits());
            int others = std::popcount(lacking.bits() & ~MetricSet::of(Cadence::gpm).bits());
            bool finds = name.find("HandleBy") != name.npos;
            EXPECT_LE(others, finds ? 64 : name.starts_with("nvmlGpm") ? 0 : 2) << what;
        }
    }
}

// The same function may fail later.
TEST(NvmlFaults, EveryFunctionAndCodeHalfWay) {
    for (const char* function : kFunctions) {
        for (unsigned code : kCodes) {
            std::string what = std::string(function) + " " + std::to_string(code);
            NvmlStage stage("device\nset 0 util_gpu 40\nset 0 mem_used_mb 512\nfail " + what + " after 3 for 4\n");
            if (!stage.opened) continue;
            PollResult last;
            for (int i = 0; i < 30; ++i) expect_sound(last = stage.collect(), what);
            ASSERT_EQ(last.readings.size(), 1u) << what;
            bool is_util = std::string(function) == "nvmlDeviceGetUtilizationRates";
            bool for_good =
                nvml::reaction_to(code) == nvml::Reaction::absent || nvml::reaction_to(code) == nvml::Reaction::lost;
            if (!is_util || !for_good) {
                EXPECT_EQ(last.readings[0].get(Metric::util_gpu), 40) << what;
            }
        }
    }
}

TEST(NvmlFaults, GarbageIsLeftOutAndSaid) {
    for (const char* function : kFunctions) {
        NvmlStage stage("device\nset 0 util_gpu 40\nset 0 mem_used_mb 512\nprocess 0 1 100 10\ngarbage " +
                        std::string(function) + "\n");
        if (!stage.opened) {
            EXPECT_GT(stage.error().size(), 20u) << function;
            continue;
        }
        for (int i = 0; i < 4; ++i) expect_sound(stage.collect(), function);
    }
    NvmlStage stage("device\ngarbage nvmlDeviceGetUtilizationRates\ngarbage nvmlDeviceGetPowerUsage\n");
    PollResult polled = stage.collect();
    EXPECT_EQ(sentences(polled),
              "GPU 0 reported an implausible value, util.gpu = 4294967295 %; such values are dropped.\n"
              "GPU 0 reported an implausible value, util.mem = 4294967295 %; such values are dropped.\n"
              "GPU 0 reported an implausible value, power = 4294967.295 W; such values are dropped.\n");
    EXPECT_FALSE(polled.readings.at(0).get(Metric::power));
    EXPECT_EQ(sentences(stage.collect()), "");
}

TEST(NvmlFaults, ValuesThatCannotBe) {
    NvmlStage stage(R"(
        device memory_mib=1000
        series 0 util_gpu 101 100
        series 0 mem_used_mb 1001 1000
        series 0 power_w 10001 700
        series 0 temp_c 201 90
        series 0 sm_clock_mhz 10001 1980
    )");
    PollResult bad = stage.collect(), good = stage.collect();
    MetricSet left_out{Metric::util_gpu, Metric::mem_used, Metric::power, Metric::temp, Metric::sm_clock};
    EXPECT_TRUE((bad.readings.at(0).present & left_out).empty());
    EXPECT_EQ(good.readings.at(0).present & left_out, left_out);
    EXPECT_EQ(bad.faults.size(), 5u);
    EXPECT_NE(sentences(bad).find("mem.used = 1001 MiB of 1000;"), std::string::npos) << sentences(bad);
}

TEST(NvmlFaults, NoPermissionNamesTheRemedyOnce) {
    NvmlStage stage("device\nfail nvmlDeviceGetPowerUsage 4\nfail nvmlDeviceGetTotalEccErrors 4\n");
    PollResult polled = stage.collect();
    ASSERT_EQ(polled.faults.size(), 1u) << sentences(polled);
    EXPECT_TRUE(polled.faults[0].sentence.starts_with(
        "GPU 0 does not report power, ecc.corrected and ecc.uncorrected: no permission"));
    EXPECT_EQ(polled.faults[0].metrics, (MetricSet{Metric::power, Metric::ecc_corrected, Metric::ecc_uncorrected}));
    EXPECT_TRUE(stage.collect().faults.empty());
}

TEST(NvmlFaults, ATimeoutPasses) {
    NvmlStage stage("device\nfail nvmlDeviceGetPowerUsage 10 after 1 for 2\n");
    EXPECT_TRUE(stage.collect().readings.at(0).get(Metric::power));
    PollResult failed = stage.collect();
    EXPECT_FALSE(failed.readings.at(0).get(Metric::power));
    EXPECT_TRUE(failed.readings.at(0).get(Metric::util_gpu));
    EXPECT_EQ(sentences(failed),
              "GPU 0 temporarily does not report power: nvmlDeviceGetPowerUsage failed, the driver timed out "
              "(NVML code "
              "10). The query will be retried.\n");
    EXPECT_EQ(sentences(stage.collect()), "");
    EXPECT_TRUE(stage.collect().readings.at(0).get(Metric::power));
}

TEST(NvmlFaults, AGpuThatDisappearsAndComesBack) {
    NvmlStage stage("device\ndevice\nset 0 util_gpu 40\nset 1 util_gpu 60\nfail * 15 device 0 after 60 for 20\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    int both = 0, only_second = 0, lost = 0, back = 0;
    for (int i = 0; i < 40; ++i) {
        PollResult polled = stage.collect(MetricSet::of(Cadence::fast));
        for (const Fault& fault : polled.faults) {
            EXPECT_EQ(fault.device, 0) << fault.sentence;
            if (fault.lost) ++lost;
            if (fault.sentence.starts_with("GPU 0 responds again")) ++back;
        }
        ASSERT_FALSE(polled.readings.empty());
        EXPECT_EQ(polled.readings.back().get(Metric::util_gpu), 60);
        (polled.readings.size() == 2 ? both : only_second) += 1;
    }
    EXPECT_GT(both, 5);
    EXPECT_GT(only_second, 5);
    EXPECT_EQ(lost, 1);
    EXPECT_EQ(back, 1);
}

TEST(NvmlFaults, AGpuThatIsLostForGood) {
    NvmlStage stage("device\nfail * 15 device 0 after 60\n");
    PollResult polled;
    std::string said;
    for (int i = 0; i < 60; ++i) said += sentences(polled = stage.collect());
    EXPECT_TRUE(polled.readings.empty());
    EXPECT_EQ(said,
              "GPU 0 stopped responding: the GPU is lost: it fell off the bus or is unreachable; see the kernel log "
              "(dmesg, Xid 79) and reboot if it stays (NVML code 15). The search for it continues.\n");
}

TEST(NvmlFaults, AGpuThatIsLostFromTheStart) {
    NvmlStage stage("device\ndevice\nfail nvmlDeviceGetHandleByIndex_v2 15 device 1\n");
    ASSERT_TRUE(stage.opened) << stage.error();
    PollResult polled = stage.collect();
    EXPECT_EQ(polled.readings.size(), 1u);
    ASSERT_EQ(polled.faults.size(), 1u) << sentences(polled);
    EXPECT_TRUE(polled.faults[0].lost);
    EXPECT_TRUE(polled.faults[0].sentence.starts_with("GPU 1 cannot be opened: the GPU is lost")) << sentences(polled);
}

TEST(NvmlFaults, ALibraryThatLosesItsDriver) {
    for (unsigned code : {1u, 9u, 18u, 999u}) {
        NvmlStage stage("device\nset 0 util_gpu 40\nfail * " + std::to_string(code) + " after 60 for 40\n");
        std::string said;
        PollResult polled;
        bool lost = false;
        for (int i = 0; i < 80; ++i) {
            said += sentences(polled = stage.collect(MetricSet::of(Cadence::fast)));
            for (const Fault& fault : polled.faults) lost |= fault.lost && fault.device == -1;
        }
        EXPECT_TRUE(lost) << code;
        EXPECT_NE(said.find("The driver stopped responding: "), std::string::npos) << said;
        EXPECT_NE(said.find("NVML was restarted after "), std::string::npos) << said;
        ASSERT_EQ(polled.readings.size(), 1u) << code << said;
        EXPECT_EQ(polled.readings[0].get(Metric::util_gpu), 40);
    }
}

TEST(NvmlFaults, WhyNvmlDoesNotStart) {
    const std::pair<int, const char*> cases[] = {
        {4, "NVML failed to start: no permission"},
        {9, "NVML failed to start: the NVIDIA kernel driver is not loaded"},
        {12,
         "NVML failed to start: NVML cannot find another library of the driver; in a container set "
         "NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
        {15, "NVML failed to start: the GPU is lost"},
        {18, "the driver was updated under a running system: reboot, or reload the kernel module"},
        {999, "systemctl daemon-reload"},
    };
    for (const auto& [code, text] : cases) {
        NvmlStage stage("device\nfail nvmlInit_v2 " + std::to_string(code) + "\n");
        ASSERT_FALSE(stage.opened);
        EXPECT_NE(stage.error().find(text), std::string::npos) << stage.error();
        EXPECT_EQ(stage.opened.error().code, code == 4 ? ExitCode::not_permitted : ExitCode::empty);
    }
    EXPECT_EQ(NvmlStage("driver 580\n").error(), "the driver reports no GPU");
    NvmlStage missing("device\n", all_devices(), "/nonexistent/libnvidia-ml.so.1");
    EXPECT_NE(missing.error().find("cannot load NVML (/nonexistent/libnvidia-ml.so.1: cannot open"), std::string::npos)
        << missing.error();
    EXPECT_EQ(NvmlStage("device\n", all_devices(), "libnvidia-ml.so.1").error(),
              "invalid GPUPROF_NVML 'libnvidia-ml.so.1'; expected an absolute path");
}

TEST(NvmlFaults, MismatchNamesBothVersions) {
    EXPECT_EQ(
        nvml::explain_mismatch(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu\nGCC version: gcc 12.2.0\n",
            "/usr/lib/libnvidia-ml.so.580.159.04"),
        "the kernel module has version 570.86.15 and the library 580.159.04; the driver was updated under a running "
        "system: reboot, or reload the kernel module (NVML code 18)");
    EXPECT_EQ(nvml::explain_mismatch("", ""), nvml::explain(18));
}

TEST(NvmlFaults, WhatHungBeforeIsLeftAlone) {
    NvmlStage stage("device\nset 0 util_gpu 40\nhang nvmlDeviceGetPowerUsage\n", avoiding("nvmlDeviceGetPowerUsage"));
    PollResult polled = stage.collect();
    EXPECT_EQ(polled.readings.at(0).get(Metric::util_gpu), 40);
    EXPECT_EQ(sentences(polled),
              "GPU 0 does not report power: the driver's function hung or crashed before and is skipped.\n");
    NvmlStage none("device\nhang nvmlInit_v2\n", avoiding("nvmlInit_v2"));
    EXPECT_EQ(none.error(), "NVML failed to start: the driver's function hung or crashed before and is skipped");
}

TEST(NvmlFaults, AStubLibraryIsRefused) {
    std::string folder = ::testing::TempDir() + "gpuprof_stubs_" + std::to_string(getpid()) + "/stubs";
    std::string command = "mkdir -p " + folder + " && cp " GPUPROF_FAKES_DIR "/libnvidia-ml.so.1 " + folder;
    ASSERT_EQ(std::system(command.c_str()), 0);
    NvmlStage stage("device\n", all_devices(), folder + "/libnvidia-ml.so.1");
    EXPECT_NE(stage.error().find(": a stub for linking, not the driver's library"), std::string::npos) << stage.error();
    std::system(("rm -r " + folder).c_str());
}

}  // namespace
}  // namespace gpuprof
