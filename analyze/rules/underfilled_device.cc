// Kernels with too few blocks to use every multiprocessor.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinUnderfilledDevicePct = 10;  // percent of the effective window

std::string remedy_for_underfilled_device(const Context& context) {
    if (context.pytorch() || context.framework == Framework::jax)
        return "Give each kernel more work: use larger batches, fused layers, and grouped or batched GEMMs; run "
               "independent work on several streams, or under MPS if it comes from several processes.";
    if (context.directives)
        return "Give each kernel more work: collapse nested loops so that more iterations run at once, use more gangs "
               "or teams, and merge small regions.";
    return "Give each kernel more work: use larger batches, one launch for several small problems, split-K or stream-K "
           "for skinny GEMMs, and several streams for independent work.";
}

Ruling look_for_underfilled_device(const Facts& facts) {
    if (facts.trace().kernel().grid_x.none_present())
        return Ruling::abstain(
            "launch shapes were not recorded; record with gpu-profile record, nsys or torch.profiler");
    const Shares& shares = facts.get<Shares>();
    DurNs underfilled = shares.kernel_of(Bound::underfilled);
    Finding finding;
    finding.cost_ns = shares.unfilled;
    if (shares.effective_pct(underfilled) < kMinUnderfilledDevicePct ||
        shares.effective_pct(finding.cost_ns) < kMinFindingPct)
        return Ruling::silent();
    finding.title =
        fmt::format("Kernels too small to fill the GPU leave it unused for {}", share_text(facts, finding.cost_ns));
    finding.evidence.push_back(
        fmt::format("for {}, the running kernels had blocks for fewer than 75 % of the multiprocessors, or few threads "
                    "for less than 5 us; idle multiprocessors add up to {} of the whole GPU",
                    readable_duration(underfilled), readable_duration(finding.cost_ns)));
    push_kernel_lines(
        facts, [](const KernelGroup& group) { return of_bound(group, Bound::underfilled); }, finding);
    finding.remedy = remedy_for_underfilled_device(facts.get<Context>());
    finding.confidence = Rating::high;
    finding.basis = Basis::launch;
    finding.would_change_if = "something other than the number of multiprocessors in use limits these kernels";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kUnderfilledDevice{"underfilled-device", "Kernels with too few blocks to use every multiprocessor.",
                              look_for_underfilled_device, Effort::edit};

}  // namespace gpuprof::rules
