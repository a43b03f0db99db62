// A pipe of the multiprocessors, or the issue of instructions, is nearly as busy as it can be.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kSimilar = 10;  // percentage points

struct Advice {
    KernelMetric part;
    std::string_view text;
};
constexpr Advice kAdvice[] = {
    {part_tensor_pipe, "The tensor cores are the limit: use a smaller number format (FP8, FP4) or compute less."},
    {part_mma_pipe, "The tensor cores are the limit: use a smaller number format (FP8, FP4) or compute less."},
    {part_dmma_pipe, "The FP64 tensor cores are the limit: use FP32 or emulation where the accuracy allows it."},
    {part_fp64_pipe, "Use FP32 where the accuracy allows it; look for constants such as 1.0 that make FP32 code FP64."},
    {part_fma_pipe,
     "Use tensor cores (matrix products in TF32, BF16 or FP16), packed FP16 arithmetic, or fewer operations."},
    {part_fma_heavy_pipe, "Use 32-bit instead of 64-bit integer multiplications, or fewer operations."},
    {part_alu_pipe,
     "Compute fewer indices, comparisons and conversions in the inner loop: hoist them, use 32-bit indices."},
    {part_xu_pipe,
     "Use fewer divisions, roots, trigonometric functions and conversions, or their fast variants (--use_fast_math)."},
    {part_lsu_pipe, "Issue fewer loads and stores: vector accesses, values in registers, warp shuffles."},
    {part_adu_pipe,
     "Issue fewer constant loads with different addresses, barriers and block-wide operations in the inner loop."},
};

// Of the four instructions a multiprocessor can issue per cycle: below this, their number is not the limit.
constexpr double kFewIssued = 0.5;

// Which pipe is busy was not collected, but instructions are issued far more slowly than the multiprocessors are busy.
bool is_one_pipe(const KernelProfile& profile) {
    std::optional<double> ipc = profile[ipc_active];
    return profile.compute->part.empty() && ipc && 100 * *ipc / 4 < kFewIssued * profile.compute->pct;
}

std::string_view advice(const KernelProfile& profile) {
    const Throughput& compute = *profile.compute;
    if (is_one_pipe(profile))
        return profile.traits.math.unit == MathUnit::tensor
                   ? "The tensor cores are most probably the limit: use a smaller number format (FP8, FP4) or compute "
                     "less. Collect "
                     "the pipes (--set full) to be certain."
                   : "One pipe is the limit, not the number of instructions: collect the pipes (--set full) to see "
                     "which.";
    auto found = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                              [&](const Advice& advice) { return advice.part == compute.metric; });
    if (found != std::end(kAdvice)) return found->text;
    return "Execute fewer instructions: vector loads, less index arithmetic, work shared by the threads of a warp, "
           "cheaper functions.";
}

KernelRuling look_for_compute_bound(const KernelProfile& profile) {
    if (profile.limit != KernelLimit::compute) return KernelRuling::silent();
    const Throughput& compute = *profile.compute;
    KernelFinding finding{.kind = KernelFindingKind::limit};
    finding.title = fmt::format("Multiprocessors are busy {} of their peak{}", text_of(compute),
                                compute.part.empty() ? "" : fmt::format(": {}", compute.part));
    for (const ThroughputPart& part : compute_parts())
        if (std::optional<double> pct = profile[part.metric];
            pct && part.metric != compute.metric && compute.pct - *pct < kSimilar && finding.evidence.size() < 2)
            finding.evidence.push_back(fmt::format("{}: {:.0f} %", part.name, *pct));
    if (profile.memory)
        finding.evidence.push_back(fmt::format("the memory system is busy {}", text_of(*profile.memory)));
    if (std::optional<double> tensor = profile[part_tensor_pipe];
        tensor && *tensor >= 1 && compute.metric != part_tensor_pipe)
        finding.evidence.push_back(fmt::format("tensor pipes are busy {:.0f} %", *tensor));
    if (std::optional<double> ipc = profile[ipc_active])
        finding.evidence.push_back(
            fmt::format("{:.2f} instructions per cycle of a multiprocessor, of at most 4", *ipc));
    finding.remedy = advice(profile);
    finding.confidence = compute.part.empty() || compute.lower_bound ? Rating::medium : Rating::high;
    finding.would_change_if = is_one_pipe(profile) ? "the pipes, when collected, are all far from their peaks"
                                                   : "the same result can be computed with fewer instructions";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kComputeBoundKernel{"compute-bound",
                                     "A pipe, or the issue of instructions, is nearly as busy as it can be.",
                                     "throughput of the multiprocessors", look_for_compute_bound};

}  // namespace gpuprof::kernels
