// Collectives that wait for no rank, or whose transfers are hidden.
#include <algorithm>
#include <cmath>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/replay/kernel_speed.h"

namespace gpuprof::inline replay {
namespace {

// Leaves `factor` of a part of each collective's time: part_of(PeerWaits::Collective) in ns.
template <class PartOf>
bool shorten_collectives(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                         PartOf&& part_of) {
    const PeerWaits& peers = facts.get<PeerWaits>();
    bool any = false;
    for (Point p = 0; p < graph.points() && !peers.collectives.empty(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        const PeerWaits::Collective* collective = peers.find(op_row(graph.object[p]));
        DurNs part = collective == nullptr ? 0 : part_of(*collective);
        if (part <= 0) continue;
        any = true;
        auto left = static_cast<DurNs>(std::llround(static_cast<double>(part) * factor));
        scenario.length.set(p, std::max<DurNs>(0, scenario.length[p] - part + left));
    }
    return any;
}

}  // namespace

bool scale_peer_waits(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                      Estimate estimate) {
    bool best = estimate == Estimate::high;
    return shorten_collectives(facts, graph, scenario, factor, [best](const PeerWaits::Collective& each) {
        return each.wait > 0 && best ? each.wait + each.transfer - each.fast_transfer : each.wait;
    });
}

bool scale_transfers(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                     Estimate estimate) {
    bool worst = estimate == Estimate::low;
    shorten_collectives(facts, graph, scenario, factor, [worst](const PeerWaits::Collective& each) {
        return worst ? each.least_transfer : each.transfer;
    });
    return !facts.get<PeerWaits>().collectives.empty();
}

}  // namespace gpuprof::replay
