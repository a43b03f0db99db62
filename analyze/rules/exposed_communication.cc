// Transfers of collectives that no other kernel overlaps.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/collective_patterns.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Whether a finding about most of these transfers says what is wrong with them.
bool says_more_specific(const Facts& facts) {
    const CollectivePatterns& patterns = facts.get<CollectivePatterns>();
    return (patterns.explained_by_size() && too_many_small(facts, patterns.small)) ||
           (patterns.explained_by_type() && fp32_gradients_cost(facts) > 0);
}

Ruling look_for_exposed_communication(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::communication);
    if (gain.pct < kMinFindingPct || says_more_specific(facts)) return Ruling::silent();
    set_cost(finding, gain);
    finding.title = gain.predicted
                        ? fmt::format("Exposed communication costs {} % of a step", readable_percent(gain.pct))
                        : fmt::format("Exposed communication takes {}", share_text(facts, gain.ns));
    DurNs waits = facts.get<PeerWaits>().exposed_wait;
    if (shares.exposed_comm == 0)  // calls of MPI
        push_gap_lines(facts, IdleCause::communication_wait, finding);
    else
        finding.evidence.push_back(fmt::format(
            "collectives run for {} while no other kernel runs{} (`devices`: exposed_comm_ns; `collectives`)",
            readable_duration(shares.exposed_comm),
            waits > 0 ? fmt::format(", {} of it waiting for late ranks", readable_duration(waits)) : ""));
    push_kernel_lines(
        facts,
        [](const KernelGroup& group) { return group.traits.kind == KernelClass::collective ? group.total_ns : 0; },
        finding);
    if (DurNs full = facts.get<CollectivePatterns>().full_precision.exposed; full > 0)
        finding.evidence.push_back(
            fmt::format("{} of it reduces in FP32 although most products are in 16 bits: half the bytes would do",
                        readable_duration(full)));
    finding.remedy =
        facts.get<Context>().pytorch()
            ? "Overlap collectives with computation: DDP gradient buckets (bucket_cap_mb), FSDP prefetch, "
              "async_op=True; communicate less often or in lower precision. A straggler makes the other ranks wait "
              "inside the collective."
            : "Overlap collectives with computation (a separate stream, smaller chunks), and communicate less often or "
              "in lower precision. A straggler makes the other ranks wait inside the collective.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "traces of all ranks show that the time is spent waiting for a straggler";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kExposedCommunication{"exposed-communication", "Collectives that no other kernel overlaps.",
                                 look_for_exposed_communication, Effort::edit, true};

}  // namespace gpuprof::rules
