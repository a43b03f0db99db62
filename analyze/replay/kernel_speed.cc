#include "analyze/replay/kernel_speed.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/context.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/knowledge/kernel_class.h"
#include "core/model/interval.h"

namespace gpuprof::inline replay {
namespace {

// However little a kernel does, it takes about this long to start and to end.
constexpr DurNs kShortest = 2'000;

template <class FactorOf>  // FactorOf(kernel row) -> std::optional<double>, at most 1
bool speed_up(const ReplayGraph& graph, Scenario& scenario, FactorOf&& factor_of) {
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        const DurNs length = scenario.length[p];
        std::optional<double> factor = factor_of(op_row(graph.object[p]));
        if (!factor || length <= kShortest) continue;
        DurNs shorter = std::max(kShortest, static_cast<DurNs>(std::llround(static_cast<double>(length) * *factor)));
        any |= shorter < length;
        scenario.length.set(p, std::min(length, shorter));
    }
    return any;
}

// Kernels with selected names, by a factor of their device: FactorOn(device) -> std::optional<double>.
template <class FactorOn>
bool speed_up_on_devices(const Trace& trace, const ReplayGraph& graph, Scenario& scenario,
                         const std::vector<bool>& selected, FactorOn&& factor_on) {
    if (std::find(selected.begin(), selected.end(), true) == selected.end()) return false;
    const KernelTable& kernels = trace.kernel();
    std::map<std::int32_t, std::optional<double>> factors;
    return speed_up(graph, scenario, [&](Row row) -> std::optional<double> {
        StringId name = kernels.name.value_or(row, kNoString);
        if (name == kNoString || !selected[index_of(name)]) return std::nullopt;
        std::int32_t device = kernels.device.value_or(row, -1);
        auto [factor, first] = factors.try_emplace(device);
        if (first) factor->second = factor_on(device);
        return factor->second;
    });
}

// Time with tensor cores as a part of the time without, on one device.
std::optional<double> tensor_core_factor(const Trace& trace, std::int32_t device, Estimate estimate) {
    std::optional<DevicePeaks> peaks = peaks_of(trace, device);
    if (!peaks || !peaks->fp32 || !peaks->tf32 || *peaks->tf32 <= *peaks->fp32) return std::nullopt;
    double best = *peaks->fp32 / *peaks->tf32;
    switch (estimate) {
        case Estimate::low: return std::max(0.5, best);
        case Estimate::central: return std::min(1.0, 2 * best);
        case Estimate::high: return best;
    }
    return std::nullopt;
}

}  // namespace

DurNs gap_into(const ReplayGraph& graph, const Scenario& scenario, Point op) {
    for (std::uint32_t e = graph.first_edge[op]; e < graph.first_edge[op + 1]; ++e)
        if (graph.edges[e].kind == EdgeKind::stream)
            return std::max<DurNs>(
                0, scenario.lags[graph.edges[e].lag].lag + (scenario.residuals ? graph.edges[e].residual : 0));
    return 0;
}

bool use_tensor_cores(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const Trace& trace = facts.trace();
    std::vector<bool> selected(trace.strings().size());
    for (const KernelGroup& group : facts.get<KernelGroups>().groups)
        selected[index_of(group.name)] = is_fp32_product_on_cuda_cores(group.traits) &&
                                         2 * group.by_bound[static_cast<std::size_t>(Bound::compute)] > group.total_ns;
    return speed_up_on_devices(trace, graph, scenario, selected,
                               [&](std::int32_t device) { return tensor_core_factor(trace, device, estimate); });
}

bool use_half_products(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const Trace& trace = facts.trace();
    const Context& context = facts.get<Context>();
    bool volta = context.tensor_cores && !context.tf32;
    std::vector<bool> selected(trace.strings().size());
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        bool product = is_matrix_product(group.traits) && group.traits.math.type == MathType::tf32;
        if (product || (volta && is_fp32_product_on_cuda_cores(group.traits)))
            selected[index_of(group.name)] =
                2 * group.by_bound[static_cast<std::size_t>(Bound::compute)] > group.total_ns;
    }
    auto factor_on = [&](std::int32_t device) -> std::optional<double> {
        std::optional<DevicePeaks> peaks = peaks_of(trace, device);
        if (!peaks || !peaks->fp16) return std::nullopt;
        std::optional<double> now = volta ? peaks->fp32 : peaks->tf32;
        if (!now || *peaks->fp16 <= *now) return std::nullopt;
        double best = *now / *peaks->fp16;
        if (volta) return value_of(estimate, std::max(0.5, best), std::min(1.0, 2 * best), best);
        return value_of(estimate, 0.9, 0.65, best);
    };
    return speed_up_on_devices(trace, graph, scenario, selected, factor_on);
}

bool reach_peaks(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const OpRates& rates = facts.get<OpRates>();
    if (rates.rate_of_kernel.empty()) return false;
    double reached = value_of<double>(estimate, 60, 80, 100);  // percent of the peak
    return speed_up(graph, scenario, [&](Row row) -> std::optional<double> {
        std::uint32_t at = rates.rate_of_kernel[row];
        if (at == kNoRow) return std::nullopt;
        const OpRate& rate = rates.rates[at];
        // Far from both peaks, something else limits the kernel. Nominal FLOPs are too few, and would promise too much.
        if (!rate.bound || rate.nominal) return std::nullopt;
        return std::min(1.0, std::max(rate.compute_pct.value_or(0), rate.bandwidth_pct.value_or(0)) / reached);
    });
}

namespace {

constexpr std::size_t kMaxInChain = 64;
constexpr DurNs kSimilarFactor = 3;
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
            if (!graph_.info[p].in_loop() || !elementwise(p)) {
                close(chain);
                continue;
            }
            bool joins = !chain.ops.empty() && chain.ops.size() < kMaxInChain && !awaited_[chain.ops.back()] &&
                         std::max(chain.longest, length) <= kSimilarFactor * std::min(chain.shortest, length);
            if (!joins) close(chain);
            chain.shortest = chain.ops.empty() ? length : std::min(chain.shortest, length);
            chain.longest = std::max(chain.longest, length);
            chain.ops.push_back(p);
        }
        for (Chain& chain : chains_) close(chain);
        if (!any_) return false;
        for (Point p = 0; p < graph_.points(); ++p)
            if (graph_.info[p].kind == PointKind::call_end && fused_call_[graph_.object[p]]) scenario_.length.set(p, 0);
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
            scenario_.length.set(chain.ops.front(), chain.longest + static_cast<DurNs>(rest));
            for (std::size_t i = 1; i < chain.ops.size(); ++i) {
                scenario_.length.set(chain.ops[i], 0);
                Row call = facts_.trace().links().kernel_launch[op_row(graph_.object[chain.ops[i]])];
                if (call != kNoRow) fused_call_[call] = true;
                scenario_.length.set(chain.ops[i], -gap_into(graph_, scenario_, chain.ops[i]));
            }
        }
        chain = {};
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

KernelOverlap kernel_overlap(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times) {
    std::map<std::int32_t, std::vector<Interval>> by_device;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        if (scenario.length[p] > 0)
            by_device[graph.streams[graph.info[p].lane].device].push_back({times[p], times[p] + scenario.length[p]});
    }
    KernelOverlap found;
    for (auto& [device, spans] : by_device) {
        std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
        TimeNs until = spans.front().start;
        for (const Interval& span : spans) {
            found.kernels += span.length();
            found.overlap += std::max<DurNs>(0, std::min(until, span.end) - span.start);
            until = std::max(until, span.end);
        }
    }
    return found;
}

}  // namespace gpuprof::replay
