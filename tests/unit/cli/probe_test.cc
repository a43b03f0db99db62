// The doctor's checks against a machine made of files.
#include "cli/doctor/probe.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/doctor/cupti_version.h"
#include "core/format/cupti_versions.h"

namespace gpuprof {
namespace {

class Probe : public testing::Test {
protected:
    Probe() {
        static int count = 0;
        root_ = std::filesystem::temp_directory_path() /
                ("gpuprof-probe-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(root_);
    }
    ~Probe() override { std::filesystem::remove_all(root_); }

    void put(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    Check check(std::string_view name) {
        std::vector<Check> checks =
            check_machine({root_.string(), [this](const char* key) { return environment_[key]; }, sample_});
        auto found =
            std::find_if(checks.begin(), checks.end(), [name](const Check& each) { return each.name == name; });
        return found == checks.end() ? Check{"absent", Health::missing, "", ""} : *found;
    }

    std::filesystem::path root_;
    std::map<std::string, std::string> environment_;
    std::function<SampledMachine(const std::string&)> sample_;
};

TEST_F(Probe, an_empty_machine_has_nothing_and_says_what_to_do) {
    EXPECT_EQ(check("NVIDIA kernel driver").health, Health::missing);
    EXPECT_NE(check("NVIDIA kernel driver").remedy, "");
    EXPECT_EQ(check("GPUs").health, Health::missing);
    EXPECT_EQ(check("CUPTI").health, Health::missing);
    EXPECT_EQ(check("nvidia-smi").health, Health::missing);
    EXPECT_EQ(check("limits").health, Health::ok);
}

// The first line of /proc/driver/nvidia/version as driver 580 writes it.
TEST_F(Probe, reads_the_driver_version) {
    put("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Wed Feb 12 20:44:16 UTC 2025\nGCC version: gcc "
        "12.2.0\n");
    EXPECT_EQ(check("NVIDIA kernel driver").health, Health::ok);
    EXPECT_EQ(check("NVIDIA kernel driver").found, "version 580.159");
}

TEST_F(Probe, tells_known_from_usable_gpus) {
    put("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 16\n");
    put("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t\t NVIDIA H200\n");
    EXPECT_EQ(check("GPUs").health, Health::missing);
    put("dev/nvidia0", "");
    EXPECT_EQ(check("GPUs").health, Health::limited);
    EXPECT_EQ(check("GPUs").found, "1 of 2 usable: NVIDIA H200, NVIDIA H200");
    put("dev/nvidia1", "");
    EXPECT_EQ(check("GPUs").health, Health::ok);
}

TEST_F(Probe, says_what_nvml_gives) {
    EXPECT_EQ(check("NVML").health, Health::missing);
    SampledMachine sampled;
    sampled.devices.resize(2);
    sampled.devices[0].name = sampled.devices[1].name = "NVIDIA H200";
    sampled.devices[1].device = 1;
    sampled.present = {Metric::util_gpu, Metric::mem_used};
    sampled.sentences = {"GPU 1 does not report power: not supported"};
    sample_ = [&sampled](const std::string& backend) {
        EXPECT_EQ(backend, "nvml");
        return sampled;
    };
    EXPECT_EQ(check("NVML").health, Health::ok);
    EXPECT_EQ(check("NVML").found, "GPU 0 NVIDIA H200, GPU 1 NVIDIA H200; GPU 1 does not report power: not supported");
    sampled.present = {Metric::mem_used};
    EXPECT_EQ(check("NVML").health, Health::limited);
    sampled.refusal = "the driver did not answer in nvmlInit_v2";
    EXPECT_EQ(check("NVML").health, Health::missing);
    EXPECT_EQ(check("NVML").found, sampled.refusal);
    EXPECT_NE(check("NVML").remedy, "");
}

TEST_F(Probe, counters_need_permission) {
    put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    put("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
    EXPECT_EQ(check("hardware counters").health, Health::limited);
    put("proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n");
    EXPECT_EQ(check("hardware counters").health, Health::ok);
    put("proc/self/status", "CapEff:\t0000000000000000\n");
    put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
    EXPECT_EQ(check("hardware counters").health, Health::ok);
}

TEST_F(Probe, says_whether_counters_can_be_sampled_over_time) {
    EXPECT_EQ(check("counters over time").found, "no GPU to sample");
    put("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\n");
    put("dev/nvidia0", "");
    environment_["VIRTUAL_ENV"] = "/opt/venv";
    std::string library = "opt/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13";
    put(library, "cuptiActivityEnable");
    EXPECT_EQ(check("counters over time").health, Health::missing);
    EXPECT_NE(check("counters over time").found.find("12.6"), std::string::npos);
    put(library, std::string(300'000, ' ') + "cuptiPmSamplingEnable");
    put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
    put("proc/self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON
    EXPECT_EQ(check("counters over time").health, Health::limited);
    EXPECT_NE(check("counters over time").remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
    put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Wed\n");
    EXPECT_EQ(check("counters over time").health, Health::ok);
    EXPECT_NE(check("counters over time").found.find("libcupti.so.13"), std::string::npos);
}

TEST_F(Probe, finds_cupti_of_a_python_environment) {
    environment_["VIRTUAL_ENV"] = "/opt/venv";
    put("opt/venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13", "");
    EXPECT_EQ(check("CUPTI").health, Health::ok);
    EXPECT_NE(check("CUPTI").found.find("libcupti.so.13"), std::string::npos);
}

TEST(CuptiVersion, NamesAndDefects) {
    EXPECT_EQ(name_of_cupti(18), "11.8 to 12.1");
    EXPECT_EQ(name_of_cupti(130000), "13.0");
    EXPECT_EQ(name_of_cupti(130401), "13.4 update 1");
    EXPECT_EQ(name_of_cupti(19), "version 19");
    EXPECT_EQ(sharing_of_cupti(130001, 13030), "one subscriber (V1)");
    EXPECT_EQ(sharing_of_cupti(130301, 13020), "one subscriber (V1), because the driver is older than r610");
    EXPECT_EQ(sharing_of_cupti(130301, 13030), "several subscribers (V2)");
    for (std::uint32_t version : {130000u, 130202u, 130300u, 130400u}) EXPECT_NE(cupti::defect_of(version), nullptr);
    for (std::uint32_t version : {18u, 28u, 130001u, 130101u, 130301u, 130401u, 130500u})
        EXPECT_EQ(cupti::defect_of(version), nullptr);
}

TEST_F(Probe, finds_nvidia_smi_in_the_path) {
    environment_["PATH"] = "/bin:/opt/nvidia";
    put("opt/nvidia/nvidia-smi", "");
    EXPECT_EQ(check("nvidia-smi").health, Health::missing) << "not executable";
    chmod((root_ / "opt/nvidia/nvidia-smi").c_str(), 0755);
    EXPECT_EQ(check("nvidia-smi").health, Health::ok);
}

TEST_F(Probe, reads_limits_of_a_control_group) {
    put("sys/fs/cgroup/cpu.max", "250000 100000\n");
    put("sys/fs/cgroup/memory.max", "1073741824\n");
    put(".dockerenv", "");
    EXPECT_EQ(check("limits").health, Health::limited);
    EXPECT_NE(check("limits").found.find("in a container, limited to 2.5 of "), std::string::npos);
    EXPECT_NE(check("limits").found.find("1.00 GiB"), std::string::npos);
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(check("limits").health, Health::ok);
}

}  // namespace
}  // namespace gpuprof
