// Copies between host and device that no kernel overlaps.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

std::string remedy_for_memory_transfers(const Context& context, const HostCopies& copies) {
    // Pinning helps only if pageable copies are a relevant part.
    bool pin = 5 * copies.pageable > copies.total;
    if (context.pytorch())
        return fmt::format(
            "{}Copy with non_blocking=True on a separate stream, prefetch the next batch, and keep data on the GPU "
            "between steps.",
            pin ? "Pin the host buffers (pin_memory=True). " : "");
    if (context.framework == Framework::jax)
        return "Copy the next batch to the GPU while this one is computed, donate buffers, and keep data on the GPU "
               "between steps.";
    if (context.directives)
        return "Keep data on the GPU: use a data region around the loop (enter data, present), update only what "
               "changed, and copy asynchronously.";
    return fmt::format(
        "{}Copy with cudaMemcpyAsync on a separate stream so that copies overlap kernels, keep data on the GPU between "
        "steps, and copy less.",
        pin ? "Pin the host buffers (cudaHostAlloc, cudaHostRegister). " : "");
}

Ruling look_for_memory_transfers(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::copies);
    if (gain.pct < kMinFindingPct) return Ruling::silent();
    set_cost(finding, gain);
    const HostCopies& copies = facts.get<HostCopies>();
    finding.title = gain.predicted
                        ? fmt::format("Copies between host and device cost {} % of a step", readable_percent(gain.pct))
                        : fmt::format("Exposed copies take {} % of the time", readable_percent(shares.pct(gain.ns)));
    finding.evidence.push_back(fmt::format("copies run for {} while no kernel runs (`devices`: exposed_memcpy_ns)",
                                           readable_duration(shares.exposed_memcpy)));
    if (shares.idle_of(IdleCause::host_memcpy) > 0)
        finding.evidence.push_back(idle_line(facts, IdleCause::host_memcpy));
    if (copies.total > 0)
        finding.evidence.push_back(fmt::format(
            "copies between host and device move {} in {}: {} with pageable memory, {} with pinned memory (`memcpy`)",
            readable_bytes(copies.bytes.real()), readable_duration(copies.total), readable_duration(copies.pageable),
            readable_duration(copies.pinned)));
    finding.remedy = remedy_for_memory_transfers(facts.get<Context>(), copies);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the copies overlap kernels";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kMemoryTransfers{"memory-transfers", "Copies between host and device that no kernel overlaps.",
                            look_for_memory_transfers, true};

}  // namespace gpuprof::rules
