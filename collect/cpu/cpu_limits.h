// What takes CPU time from a command other than its own threads: a CPU quota of its control groups (cgroups(7), CFS
// bandwidth control), and a hypervisor that runs other virtual machines. Read when the command begins and ends; the
// difference of the two readings is what happened in between.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline cpu {

// cpu.stat of a control group. In version 1 and 2 these fields have the same names.
struct QuotaPeriods {
    std::int64_t all = 0, throttled = 0;
};
// Absent if the group has no quota.
std::optional<QuotaPeriods> parse_cpu_stat(std::string_view text);

// The first line of /proc/stat, in ticks. Absent before Linux 2.6.11.
struct CpuTicks {
    std::int64_t all = 0, stolen = 0;
};
std::optional<CpuTicks> parse_cpu_ticks(std::string_view text);

// The files cpu.stat that may limit a process, innermost first, from /proc/PID/cgroup and /proc/PID/mountinfo. A container
// sees its own group as the root of the mount, whatever path the kernel names, so every ancestor is tried.
std::vector<std::string> cpu_stat_files(std::string_view cgroup, std::string_view mountinfo);

class CpuLimits {
public:
    // `proc` and `root` (for the control groups) are other folders in tests.
    explicit CpuLimits(std::string proc = "/proc", std::string root = "")
        : proc_(std::move(proc)), root_(std::move(root)) {}
    void begin(pid_t command);
    void end();

    // Between the two, of the group with most throttled periods; absent without a quota.
    std::optional<QuotaPeriods> quota() const;
    std::optional<CpuTicks> ticks() const;

private:
    struct Group {
        std::string file;
        std::optional<QuotaPeriods> first, last;
    };
    std::optional<QuotaPeriods> read_group(const std::string& file) const;
    std::optional<CpuTicks> read_ticks() const;

    std::string proc_, root_;
    std::vector<Group> groups_;
    std::optional<CpuTicks> first_, last_;
};

}  // namespace gpuprof::cpu
