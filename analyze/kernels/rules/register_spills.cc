// Registers do not suffice, so values go to local memory and back.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kMinSpillPct = 5;      // percent of the sectors
constexpr double kMinSpillGainPct = 1;  // percent of the duration

KernelRuling look_for_register_spills(const KernelProfile& profile) {
    std::optional<double> local = sum_of(profile.kernel, local_load_sectors, local_store_sectors),
                          global = sum_of(profile.kernel, l1_load_sectors, l1_store_sectors),
                          spills = profile[spill_requests];
    if (!local && !spills) return KernelRuling::abstain("accesses to local memory were not collected");
    if (local == 0 || spills == 0) return KernelRuling::silent();
    if (!local || !global) return KernelRuling::abstain("sectors of local and global memory were not collected");
    double share = 100 * *local / (*local + *global);
    if (share < kMinSpillPct) return KernelRuling::silent();
    std::optional<double> busy = level_pct(profile.kernel, MemoryLevel::l1);
    if (!busy && profile.memory) busy = profile.memory->pct;
    if (!busy) return KernelRuling::abstain("throughput of the memory system was not collected");
    KernelFinding finding;
    finding.gain_pct = share * *busy / 100;
    if (*finding.gain_pct < kMinSpillGainPct) return KernelRuling::silent();
    finding.title = fmt::format("{:.0f} % of the sectors moved are of local memory: {}", share,
                                spills ? "spilled registers" : "spilled registers, or arrays of threads");
    finding.evidence.push_back(fmt::format("{} sectors", readable_count(static_cast<std::int64_t>(*local))));
    if (std::optional<double> used = profile[registers])
        finding.evidence.push_back(fmt::format("{:.0f} registers per thread", *used));
    finding.remedy =
        "Use fewer values at a time (smaller tiles, less unrolling), index arrays of threads with constants only, "
        "or allow more registers (__launch_bounds__ with fewer threads).";
    finding.confidence = spills ? Rating::high : Rating::medium;
    finding.would_change_if = "gpu-profile kernel-info of the cubin shows no spills";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kRegisterSpillsKernel{"register-spills",
                                       "Registers do not suffice, so values go to local memory and back.",
                                       "sectors of local and global memory", look_for_register_spills};

}  // namespace gpuprof::kernels
