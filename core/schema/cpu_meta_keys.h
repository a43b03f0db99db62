// What `record` knows about the CPUs besides the use of threads: keys of the `meta` table, which `cpu` reads.
#pragma once

namespace gpuprof::inline schema::meta_key {

// Periods in which a CPU quota of the command's control group, or of one that contains it, stopped the command's threads,
// and periods in which the quota applied: "412 of 600".
inline constexpr const char* kCpuQuotaPeriods = "cpu.quota_throttled_periods";
// Time that the hypervisor gave to other virtual machines while a CPU of this one had work, and time of all CPUs, in ns:
// "1200000 40000000".
inline constexpr const char* kCpuSteal = "cpu.steal_ns";

}  // namespace gpuprof::schema::meta_key
