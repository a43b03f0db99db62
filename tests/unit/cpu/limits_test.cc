// Quotas of control groups and time of the hypervisor, on made-up systems.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "collect/cpu/cpu_limits.h"

namespace gpuprof {
namespace {

using Files = std::vector<std::string>;

constexpr const char* kVersion2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

TEST(CpuStatFiles, EveryAncestorMayHaveAQuota) {
    EXPECT_EQ(cpu_stat_files("0::/system.slice/job.scope\n", kVersion2),
              (Files{"/sys/fs/cgroup/system.slice/job.scope/cpu.stat", "/sys/fs/cgroup/system.slice/cpu.stat",
                     "/sys/fs/cgroup/cpu.stat"}));
    EXPECT_EQ(cpu_stat_files("0::/\n", kVersion2), (Files{"/sys/fs/cgroup/cpu.stat"}));
}

TEST(CpuStatFiles, Version1HasAHierarchyForEachController) {
    EXPECT_EQ(cpu_stat_files("9:cpuset:/other\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/x\n0::/y\n", kVersion1),
              (Files{"/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/docker/cpu.stat",
                     "/sys/fs/cgroup/cpu,cpuacct/cpu.stat"}));
}

TEST(CpuStatFiles, AContainersMountBeginsAtItsGroup) {
    EXPECT_EQ(cpu_stat_files("4:cpu,cpuacct:/docker/ab\n",
                             "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"),
              (Files{"/sys/fs/cgroup/cpu,cpuacct/cpu.stat"}));
    EXPECT_EQ(cpu_stat_files("0::/../../elsewhere\n", kVersion2), (Files{"/sys/fs/cgroup/cpu.stat"}));
}

TEST(CpuStatFiles, TextsThatCannotBeAreNothing) {
    for (std::string_view text : {"", "\n", "0::\n", ":::::", "cpu", "0:cpu:/a\n", " - - - \n", "1 2 3 4 5 - cgroup"}) {
        EXPECT_LE(cpu_stat_files(text, kVersion2).size(), 2u);
        EXPECT_TRUE(cpu_stat_files("0::/a\n4:cpu:/b\n", text).empty());
    }
}

TEST(CpuStat, PeriodsOfBothVersions) {
    auto both = {"usage_usec 5\nnr_periods 600\nnr_throttled 412\nthrottled_usec 5\n",
                 "nr_periods 600\nnr_throttled 412\nthrottled_time 5\n"};
    for (const char* text : both) {
        std::optional<QuotaPeriods> read = parse_cpu_stat(text);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->all, 600);
        EXPECT_EQ(read->throttled, 412);
    }
    EXPECT_FALSE(parse_cpu_stat("usage_usec 5\nuser_usec 4\n"));  // no quota here
    EXPECT_FALSE(parse_cpu_stat("nr_periods 600\nnr_throttled x\n"));
}

TEST(CpuTicksOfTheMachine, StealIsTheEighthField) {
    std::optional<CpuTicks> read = parse_cpu_ticks("cpu  10 1 5 100 4 0 2 33 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->all, 155);
    EXPECT_EQ(read->stolen, 33);
    EXPECT_FALSE(parse_cpu_ticks("cpu  10 1 5 100 4 0 2\n"));
    EXPECT_FALSE(parse_cpu_ticks("intr 5\n"));
}

class CpuLimitsOfACommand : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "limitsXXXXXX";
        root_ = mkdtemp(pattern.data());
        write("proc/7/cgroup", "0::/pod/job\n");
        write("proc/7/mountinfo", kVersion2);
        write("proc/stat", "cpu 1 0 0 100 0 0 0 10 0 0\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& file, std::string_view text) {
        std::filesystem::create_directories(std::filesystem::path(root_ + "/" + file).parent_path());
        std::ofstream(root_ + "/" + file) << text;
    }
    void quota(const std::string& group, int periods, int throttled) {
        write("sys/fs/cgroup" + group + "/cpu.stat",
              "nr_periods " + std::to_string(periods) + "\nnr_throttled " + std::to_string(throttled) + "\n");
    }

    std::string root_;
};

TEST_F(CpuLimitsOfACommand, TheGroupThatWasThrottledMostCounts) {
    quota("/pod/job", 5, 5), quota("/pod", 100, 40);
    CpuLimits limits(root_ + "/proc", root_);
    limits.begin(7);
    quota("/pod/job", 65, 7), quota("/pod", 160, 90);
    write("proc/stat", "cpu 51 0 0 120 0 0 0 40 0 0\n");
    limits.end();
    ASSERT_TRUE(limits.quota());
    EXPECT_EQ(limits.quota()->all, 60);
    EXPECT_EQ(limits.quota()->throttled, 50);
    ASSERT_TRUE(limits.ticks());
    EXPECT_EQ(limits.ticks()->stolen, 30);
    EXPECT_EQ(limits.ticks()->all, 100);
}

TEST_F(CpuLimitsOfACommand, WithoutAQuotaThereIsNone) {
    quota("/pod/job", 0, 0);  // version 1 has the file without a quota, too
    CpuLimits limits(root_ + "/proc", root_);
    limits.begin(7);
    limits.end();
    EXPECT_FALSE(limits.quota());
    CpuLimits other(root_ + "/proc", root_);
    other.begin(8);  // has ended already
    other.end();
    EXPECT_FALSE(other.quota());
}

TEST_F(CpuLimitsOfACommand, AGroupThatVanishesTellsNothing) {
    quota("/pod/job", 5, 5);
    CpuLimits limits(root_ + "/proc", root_);
    limits.begin(7);
    std::filesystem::remove_all(root_ + "/sys");
    limits.end();
    EXPECT_FALSE(limits.quota());
}

}  // namespace
}  // namespace gpuprof
