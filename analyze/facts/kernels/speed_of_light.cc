#include "analyze/facts/kernels/speed_of_light.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpuprof::inline facts {
namespace {

// Fewer parts than this say nothing about the maximum.
constexpr std::size_t kFewestParts = 4;
// The parts that were the maximum in at least one of 31 recorded kernels, and the pipes of arithmetic: those of the set `sol`.
constexpr KernelMetric kDecisive[] = {
    KernelMetric::part_issue,          KernelMetric::part_tensor_pipe, KernelMetric::part_fp64_pipe,
    KernelMetric::part_alu_pipe,       KernelMetric::part_fma_pipe,    KernelMetric::part_adu_pipe,
    KernelMetric::part_lsu_pipe,       KernelMetric::part_mio_read,    KernelMetric::part_l1_wavefronts,
    KernelMetric::part_l2_sectors_pct, KernelMetric::part_l2_tags,     KernelMetric::part_l2_from_sm,
    KernelMetric::part_dram_bandwidth};

bool is_decisive(KernelMetric part) {
    return std::find(std::begin(kDecisive), std::end(kDecisive), part) != std::end(kDecisive);
}

// The parts and the whole are measured in different passes, so they may differ.
constexpr double kSame = 2;  // percentage points

Throughput of_parts(const MeasuredKernel& kernel, std::span<const ThroughputPart> parts) {
    Throughput found{.of = parts.size()};
    for (const ThroughputPart& part : parts) {
        std::optional<double> pct = kernel[part.metric];
        if (!pct && is_decisive(part.metric)) found.close = false;
        if (!pct) continue;
        ++found.measured;
        if (*pct <= found.pct && !found.part.empty()) continue;
        found.pct = *pct;
        found.part = part.name;
        found.metric = part.metric;
        found.level = part.level;
    }
    return found;
}

std::optional<Throughput> of(const MeasuredKernel& kernel, KernelMetric whole, std::span<const ThroughputPart> parts) {
    Throughput found = of_parts(kernel, parts);
    if (std::optional<double> pct = kernel[whole]) {
        if (std::abs(*pct - found.pct) > std::max(kSame, *pct / 20)) found = {.of = parts.size()};  // another part
        found.pct = *pct;
        found.close = true;
        return found;
    }
    if (found.measured < kFewestParts) return std::nullopt;
    found.lower_bound = found.measured < found.of;
    return found;
}

}  // namespace

std::optional<Throughput> compute_throughput(const MeasuredKernel& kernel) {
    return of(kernel, KernelMetric::compute_pct, compute_parts());
}

std::optional<Throughput> memory_throughput(const MeasuredKernel& kernel) {
    std::optional<Throughput> found = of(kernel, KernelMetric::memory_pct, memory_parts());
    std::optional<double> dram = kernel[KernelMetric::dram_pct];
    if (!found && dram && *dram >= kNearPeak)
        found = {.pct = *dram,
                 .level = MemoryLevel::dram,
                 .measured = 1,
                 .of = memory_parts().size(),
                 .lower_bound = true,
                 .close = false};
    if (!found || found->level) return found;
    // The details page has the levels but not their parts. L2's throughput includes links between the halves of the
    // cache, which are no part of the memory throughput, and L1's is of active cycles, so only equality names a level.
    std::pair<KernelMetric, MemoryLevel> levels[] = {{KernelMetric::dram_pct, MemoryLevel::dram},
                                                     {KernelMetric::l2_pct, MemoryLevel::l2},
                                                     {KernelMetric::l1_pct, MemoryLevel::l1}};
    for (auto [metric, level] : levels)
        if (std::optional<double> pct = kernel[metric]; pct && std::abs(*pct - found->pct) <= kSame) {
            found->level = level;
            break;
        }
    return found;
}

std::optional<double> level_pct(const MeasuredKernel& kernel, MemoryLevel level) {
    std::optional<double> busiest;
    for (const ThroughputPart& part : memory_parts())
        if (std::optional<double> pct = kernel[part.metric]; pct && part.level == level)
            busiest = std::max(*pct, busiest.value_or(0));
    return busiest;
}

std::string text_of(const Throughput& throughput) {
    if (!throughput.lower_bound) return fmt::format("{:.0f} %", throughput.pct);
    return fmt::format("at least {:.0f} % (from {} of {} parts)", throughput.pct, throughput.measured, throughput.of);
}

}  // namespace gpuprof::facts
