#include "analyze/replay/fusion.h"

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/kernel_class.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::size_t kMaxInChain = 64;
constexpr DurNs kAlikeFactor = 3;
constexpr double kUnfused = 0.3;

struct Chain {
    std::vector<Point> ops;
    DurNs shortest = 0, longest = 0;
};

// Whether anything but the stream's next op of the same step depends on each op.
std::vector<bool> awaited(const ReplayGraph& graph) {
    std::vector<bool> found(graph.points());
    for (const ReplayEdge& edge : graph.edges)
        if (graph.info[edge.source].kind == PointKind::op && edge.kind != EdgeKind::stream &&
            edge.kind != EdgeKind::bypass && edge.kind != EdgeKind::back_pressure)
            found[edge.source] = true;
    for (const ReplayGraph::Completion& step : graph.steps)
        for (Point last : step.ops) found[last] = true;
    return found;
}

class Fuser {
public:
    Fuser(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate)
        : facts_(facts),
          graph_(graph),
          scenario_(scenario),
          estimate_(estimate),
          awaited_(awaited(graph)),
          known_(facts.trace().strings().size(), 0),
          chains_(graph.streams.size()),
          fused_call_(facts.trace().api_call().rows) {}

    bool run() {
        for (Point p = 0; p < graph_.points(); ++p) {
            if (graph_.info[p].kind != PointKind::op) continue;
            Chain& chain = chains_[graph_.info[p].lane];
            DurNs length = scenario_.length[p];
            if (!graph_.info[p].in_step || !elementwise(p)) {
                close(chain);
                continue;
            }
            bool joins = !chain.ops.empty() && chain.ops.size() < kMaxInChain && !awaited_[chain.ops.back()] &&
                         std::max(chain.longest, length) <= kAlikeFactor * std::min(chain.shortest, length);
            if (!joins) close(chain);
            chain.shortest = chain.ops.empty() ? length : std::min(chain.shortest, length);
            chain.longest = std::max(chain.longest, length);
            chain.ops.push_back(p);
        }
        for (Chain& chain : chains_) close(chain);
        if (!any_) return false;
        for (Point p = 0; p < graph_.points(); ++p)
            if (graph_.info[p].kind == PointKind::call_end && fused_call_[graph_.object[p]]) scenario_.length[p] = 0;
        return true;
    }

private:
    bool elementwise(Point p) {
        if (op_kind(graph_.object[p]) != DeviceOp::kernel) return false;
        StringId name = facts_.trace().kernel().name.value_or(op_row(graph_.object[p]), kNoString);
        if (name == kNoString) return false;
        char& known = known_[index_of(name)];
        if (known == 0) known = classify_kernel(facts_.trace().text(name)).kind == KernelClass::elementwise ? 2 : 1;
        return known == 2;
    }
    // The first op takes the time of the fused kernel; the others take none, nor the gaps behind them.
    void close(Chain& chain) {
        if (chain.ops.size() > 1) {
            any_ = true;
            DurNs sum = 0;
            for (Point p : chain.ops) sum += scenario_.length[p];
            double rest = estimate_ == Estimate::low ? kUnfused * static_cast<double>(sum - chain.longest) : 0;
            scenario_.length[chain.ops.front()] = chain.longest + static_cast<DurNs>(rest);
            for (std::size_t i = 1; i < chain.ops.size(); ++i) {
                scenario_.length[chain.ops[i]] = 0;
                Row call = facts_.trace().links().kernel_launch[op_row(graph_.object[chain.ops[i]])];
                if (call != kNoRow) fused_call_[call] = true;
                scenario_.length[chain.ops[i]] = -gap_into(chain.ops[i]);
            }
        }
        chain = {};
    }
    // The gap in front of an op on its stream, which a fused kernel does not have.
    DurNs gap_into(Point p) const {
        for (std::uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e)
            if (graph_.edges[e].kind == EdgeKind::stream)
                return std::max<DurNs>(
                    0, scenario_.lags[graph_.edges[e].lag].lag + (scenario_.residuals ? graph_.edges[e].residual : 0));
        return 0;
    }

    const Facts& facts_;
    const ReplayGraph& graph_;
    Scenario& scenario_;
    Estimate estimate_;
    std::vector<bool> awaited_;
    std::vector<char> known_;
    std::vector<Chain> chains_;
    std::vector<bool> fused_call_;
    bool any_ = false;
};

}  // namespace

bool fuse_elementwise(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    return Fuser(facts, graph, scenario, estimate).run();
}

}  // namespace gpuprof::replay
