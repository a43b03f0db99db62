// Collectives that wait for a rank that comes late, or that may.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kWideRange = 1.25;  // of the gain, to its upper end
constexpr std::string_view kFindTheRank =
    "Find the rank that comes late, and fix what delays it: record all ranks, then run `gpu-profile ranks` on the "
    "recordings (it names ranks that compute, load or launch longer, uneven expert loads, and pipeline bubbles). "
    "Larger buckets and overlap save only the transfers.";

Ruling look_for_late_ranks(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const PeerWaits& peers = facts.get<PeerWaits>();
    const Gain& gain = gain_without(facts, Waste::late_ranks);
    Finding finding;
    finding.remedy = kFindTheRank;
    finding.basis = Basis::timeline;
    finding.would_change_if = "recordings of all ranks show that they arrive at the same time";
    if (gain.pct >= kMinFindingPct) {
        set_cost(finding, gain);
        finding.title = gain.predicted
                            ? fmt::format("Waiting for a late rank costs {} % of a step", readable_percent(gain.pct))
                            : fmt::format("Collectives wait for a late rank {}", share_text(facts, gain.ns));
        finding.evidence.push_back(fmt::format(
            "{} of {} took much longer than others of the same kind and size, or than larger ones: up to {} more",
            readable_count(peers.late), readable_count(peers.collectives.size(), "collective"),
            readable_duration(peers.longest_wait)));
        auto longest = std::max_element(peers.collectives.begin(), peers.collectives.end(),
                                        [](const auto& a, const auto& b) { return a.wait < b.wait; });
        finding.place = facts.get<CodePlaces>().of_kernel(facts, longest->kernel);
        // Without a sibling of the same size, what the transfer takes is only bounded.
        bool wide = gain.predicted && gain.predicted->gain_high > kWideRange * gain.predicted->gain;
        finding.confidence = wide ? Rating::medium : Rating::high;
        return Ruling::fires(std::move(finding));
    }
    if (shares.effective_pct(peers.exposed_doubtful) < kMinFindingPct) return Ruling::silent();
    finding.cost_ns = peers.exposed_doubtful;
    finding.title = fmt::format("Collectives are slow for {}: a late rank, or a slow network",
                                share_text(facts, peers.exposed_doubtful));
    finding.evidence.push_back(
        "all collectives of these sizes take far longer than such GPUs, or a network of 50 Gbit/s, need for the "
        "transfer; none shows what it takes (`collectives`)");
    finding.confidence = Rating::low;
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kLateRanks{"late-ranks", "Collectives that wait for a rank that comes late.", look_for_late_ranks,
                      Effort::edit, true};

}  // namespace gpuprof::rules
