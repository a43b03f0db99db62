// The NVML source against a fake library that works: known values, eight GPUs, MIG, few symbols, layouts of entries.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "collect/device/nvml/nvml_processes.h"
#include "tests/unit/device/nvml_fixture.h"

namespace gpuprof {
namespace {

TEST(NvmlSource, ReadsEveryMetricInItsUnit) {
    NvmlStage stage(R"(
        device name=NVIDIA_H200 uuid=GPU-1 pci=00000000:06:00.0
        set 0 util_gpu 73
        set 0 util_mem 21
        set 0 mem_used_mb 1024
        set 0 power_w 412.5
        set 0 energy_j 98765
        set 0 temp_c 61
        set 0 throttle_reasons 4
        set 0 ecc_corrected 3
        set 0 gpm_sm_active 88.5
        set 0 gpm_nvlink_rx_mib_per_s 1000
    )");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_EQ(stage.source().devices().size(), 1u);
    const SampledDevice& device = stage.source().devices()[0];
    EXPECT_EQ(device.name, "NVIDIA H200");
    EXPECT_EQ(device.uuid, "GPU-1");
    EXPECT_EQ(device.pci_bus_id, "00000000:06:00.0");
    EXPECT_EQ(device.power_limit_w, 700);
    EXPECT_EQ(device.sm_clock_max_mhz, 1980);
    EXPECT_EQ(device.mem_clock_max_mhz, 3201);
    stage.collect();  // GPM needs two
    PollResult polled = stage.collect();
    EXPECT_EQ(sentences(polled), "");
    ASSERT_EQ(polled.readings.size(), 1u);
    const Reading& reading = polled.readings[0];
    EXPECT_EQ(reading.present, MetricSet::all());
    const std::pair<Metric, double> expected[] = {
        {Metric::util_gpu, 73},      {Metric::util_mem, 21},        {Metric::mem_used, 1024},
        {Metric::mem_total, 143771}, {Metric::power, 412.5},        {Metric::energy, 98765},
        {Metric::temp, 61},          {Metric::sm_clock, 1980},      {Metric::mem_clock, 3201},
        {Metric::pstate, 0},         {Metric::throttle, 4},         {Metric::pcie_gen, 5},
        {Metric::pcie_width, 16},    {Metric::ecc_corrected, 3},    {Metric::ecc_uncorrected, 0},
        {Metric::xid_errors, 0},     {Metric::gpm_sm_active, 88.5}, {Metric::gpm_nvlink_rx, 1048.576},
        {Metric::gpm_nvlink_tx, 0}};
    for (const auto& [metric, value] : expected) EXPECT_EQ(reading.get(metric), value) << spec_of(metric).name;
}

TEST(NvmlSource, AsksOnlyForWhatIsDue) {
    NvmlStage stage("device\nseries 0 energy_j 1 2 3\n");
    for (int i = 0; i < 3; ++i) {
        PollResult polled = stage.collect(MetricSet::of(Cadence::fast));
        ASSERT_EQ(polled.readings.size(), 1u);
        EXPECT_EQ(polled.readings[0].present, MetricSet::of(Cadence::fast));
        EXPECT_TRUE(polled.processes.empty());
    }
    EXPECT_EQ(stage.collect({Metric::energy}).readings[0].get(Metric::energy), 1);
}

TEST(NvmlSource, SeriesComeOneValueATurn) {
    NvmlStage stage("device\nseries 0 util_gpu 10 20 30\n");
    std::vector<double> seen;
    for (int i = 0; i < 4; ++i) seen.push_back(*stage.collect({Metric::util_gpu}).readings[0].get(Metric::util_gpu));
    EXPECT_EQ(seen, (std::vector<double>{10, 20, 30, 30}));
}

TEST(NvmlSource, EightGpus) {
    std::string script;
    for (int i = 0; i < 8; ++i)
        script += "device\nset " + std::to_string(i) + " util_gpu " + std::to_string(10 * i) + "\n";
    NvmlStage stage(script);
    PollResult polled = stage.collect();
    ASSERT_EQ(polled.readings.size(), 8u);
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(polled.readings[static_cast<std::size_t>(i)].device, i);
        EXPECT_EQ(polled.readings[static_cast<std::size_t>(i)].get(Metric::util_gpu), 10.0 * i);
    }
    EXPECT_EQ(sentences(polled), "");
}

TEST(NvmlSource, SelectsByVisibleDevices) {
    SourceRequest request;
    request.visible_devices = "1";
    request.visible_set = true;
    NvmlStage stage("device uuid=GPU-a\ndevice uuid=GPU-b\n", request);
    ASSERT_EQ(stage.source().devices().size(), 1u);
    EXPECT_EQ(stage.source().devices()[0].device, 0);
    EXPECT_EQ(stage.source().devices()[0].nvml_index, 1);
    EXPECT_EQ(stage.source().devices()[0].uuid, "GPU-b");
}

TEST(NvmlSource, MigInstancesHaveMemoryAndGpmButNoUtilisation) {
    NvmlStage stage(R"(
        device uuid=GPU-a
        mig 0 uuid=MIG-1 memory_mib=16384 gi=1
        mig 0 uuid=MIG-2 memory_mib=8192 gi=2
        set 1 mem_used_mb 100
        set 2 gpm_sm_active 42
    )");
    ASSERT_TRUE(stage.opened) << stage.error();
    ASSERT_EQ(stage.source().devices().size(), 2u);
    EXPECT_TRUE(stage.source().devices()[1].mig);
    EXPECT_EQ(stage.source().devices()[1].uuid, "MIG-2");
    PollResult first = stage.collect(), second = stage.collect();
    ASSERT_EQ(second.readings.size(), 2u);
    EXPECT_EQ(second.readings[0].get(Metric::mem_used), 100);
    EXPECT_EQ(second.readings[0].get(Metric::mem_total), 16384);
    EXPECT_EQ(second.readings[1].get(Metric::gpm_sm_active), 42);
    EXPECT_FALSE(second.readings[0].get(Metric::util_gpu));
    EXPECT_EQ(first.faults.size(), 2u) << sentences(first);
    EXPECT_EQ(
        first.faults[0].sentence,
        "GPU 0 does not report util.gpu, util.mem, power, energy, temp, clock.sm, clock.mem, pstate, "
        "throttle.reasons, pcie.gen, pcie.width, ecc.corrected and ecc.uncorrected: NVML does not report it for a MIG "
        "instance.");
    EXPECT_TRUE(second.faults.empty()) << sentences(second);
}

TEST(NvmlSource, ALibraryOfTenFunctions) {
    NvmlStage stage("device\nset 0 util_gpu 55\nset 0 mem_used_mb 7\n", all_devices(),
                    GPUPROF_FAKES_DIR "/wsl/libnvidia-ml.so.1");
    ASSERT_TRUE(stage.opened) << stage.error();
    PollResult first = stage.collect(), second = stage.collect();
    EXPECT_EQ(second.readings.at(0).present,
              (MetricSet{Metric::util_gpu, Metric::util_mem, Metric::mem_used, Metric::mem_total}));
    EXPECT_EQ(second.readings[0].get(Metric::util_gpu), 55);
    EXPECT_EQ(
        sentences(first),
        "GPU 0 does not report power, energy, temp, clock.sm, clock.mem, pstate, throttle.reasons, pcie.gen, "
        "pcie.width, ecc.corrected, ecc.uncorrected, xid.errors and gpm.*: this driver's NVML lacks the function; "
        "a newer driver may have it (NVML code 13).\n"
        "GPU 0 does not report which processes use it: this driver's NVML lacks the function; a newer driver may have "
        "it "
        "(NVML code 13).\n")
        << sentences(first);
    EXPECT_EQ(sentences(second), "");
}

// Every layout that drivers had for the functions of one name gives the same answer.
TEST(NvmlProcesses, EntriesOfAnyLength) {
    std::string own = std::to_string(getpid());
    const std::string functions[] = {"nvmlDeviceGetComputeRunningProcesses_v3",
                                     "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"};
    std::string hidden;
    for (const std::string& function : functions) {
        for (int bytes : {16, 24, 32}) {
            if (bytes < 24 && function.ends_with("_v3")) continue;
            if (bytes < 24 && function.ends_with("_v2")) continue;
            NvmlStage stage("device\nprocess 0 " + own +
                            " 100 30\nprocess 0 1 200 5 graphics\nprocess 0 4194304 300 60\n" + hidden + "entry " +
                            function + " " + std::to_string(bytes) + "\n");
            PollResult polled = stage.collect();
            ASSERT_EQ(polled.processes.size(), 3u) << function << bytes;
            std::sort(polled.processes.begin(), polled.processes.end(),
                      [](const ProcessReading& a, const ProcessReading& b) { return a.pid < b.pid; });
            EXPECT_EQ(polled.processes[0].mem_used_mb, 200);
            EXPECT_EQ(polled.processes[1].mem_used_mb, 100) << function << bytes;
            EXPECT_EQ(polled.processes[1].util_gpu, 30);
            EXPECT_EQ(polled.processes[1].pid, getpid());
            EXPECT_EQ(polled.processes[2].mem_used_mb, 300);
        }
        hidden += "fail " + function + " 13\n";
    }
}

TEST(NvmlProcesses, MoreThanTheBufferHolds) {
    std::string script = "device\n";
    for (int pid = 1; pid <= 300; ++pid) script += "process 0 " + std::to_string(pid) + " 1 1\n";
    NvmlStage stage(script);
    EXPECT_EQ(stage.collect().processes.size(), 300u);
}

TEST(NvmlProcesses, ImpossibleEntriesAreLeftOut) {
    NvmlStage stage("device memory_mib=1000\nprocess 0 0 1 1\nprocess 0 4294967295 1 1\nprocess 0 1 2000 101\n");
    PollResult polled = stage.collect();
    ASSERT_EQ(polled.processes.size(), 1u);
    EXPECT_FALSE(polled.processes[0].mem_used_mb);
    EXPECT_FALSE(polled.processes[0].util_gpu);
}

TEST(NvmlProcesses, LocalProcessIds) {
    std::string root = ::testing::TempDir() + "gpuprof_proc_" + std::to_string(getpid());
    for (auto [pid, nspid] : {std::pair{"100", "100"}, {"200", "200\t7"}, {"300", "300\t8\t9"}, {"400", "400\t9"}}) {
        std::filesystem::create_directories(root + "/" + pid);
        std::ofstream(root + "/" + pid + "/status") << "Name:\tx\nNSpid:\t" << nspid << "\n";
    }
    EXPECT_EQ(nvml::local_pid(100, root), 100);
    EXPECT_EQ(nvml::local_pid(7, root), 200);
    EXPECT_EQ(nvml::local_pid(8, root), 300);
    EXPECT_EQ(nvml::local_pid(9, root), 9);        // two processes could be meant
    EXPECT_EQ(nvml::local_pid(1234, root), 1234);  // of the host, not seen from here
    std::filesystem::remove_all(root);
}

TEST(NvmlSource, CountsXids) {
    NvmlStage stage("device\ndevice\nxid 1 79\nxid 1 13\nxid 0 48 after 20\n");
    PollResult first = stage.collect();
    EXPECT_EQ(first.readings.at(0).get(Metric::xid_errors), 0);
    EXPECT_EQ(first.readings.at(1).get(Metric::xid_errors), 2);
    EXPECT_EQ(sentences(first),
              "GPU 1 reported Xid 79 (the GPU fell off the bus); see the kernel log (dmesg) for details.\n"
              "GPU 1 reported Xid 13 (illegal operation in a kernel); see the kernel log (dmesg) for details.\n");
}

}  // namespace
}  // namespace gpuprof
