#include "analyze/replay/kernel_speed.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/op_rates.h"

namespace gpuprof::inline replay {
namespace {

// However little a kernel does, it takes about this long to start and to end.
constexpr DurNs kShortest = 2'000;

template <class FactorOf>  // FactorOf(kernel row) -> std::optional<double>, at most 1
bool speed_up(const ReplayGraph& graph, Scenario& scenario, FactorOf&& factor_of) {
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        DurNs& length = scenario.length[p];
        std::optional<double> factor = factor_of(op_row(graph.object[p]));
        if (!factor || length <= kShortest) continue;
        DurNs shorter = std::max(kShortest, static_cast<DurNs>(std::llround(static_cast<double>(length) * *factor)));
        any |= shorter < length;
        length = std::min(length, shorter);
    }
    return any;
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

bool use_tensor_cores(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    std::vector<bool> selected(trace.strings().size());
    for (const KernelGroup& group : facts.get<KernelGroups>().groups)
        selected[index_of(group.name)] = is_fp32_product_on_cuda_cores(group.traits) &&
                                         2 * group.by_bound[static_cast<std::size_t>(Bound::compute)] > group.total_ns;
    std::map<std::int32_t, std::optional<double>> factors;
    return speed_up(graph, scenario, [&](Row row) -> std::optional<double> {
        StringId name = kernels.name.value_or(row, kNoString);
        if (name == kNoString || !selected[index_of(name)]) return std::nullopt;
        std::int32_t device = kernels.device.value_or(row, -1);
        auto [factor, first] = factors.try_emplace(device);
        if (first) factor->second = tensor_core_factor(trace, device, estimate);
        return factor->second;
    });
}

bool reach_peaks(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const OpRates& rates = facts.get<OpRates>();
    if (rates.rate_of_kernel.empty()) return false;
    double reached = estimate == Estimate::low ? 60 : estimate == Estimate::high ? 100 : 80;  // percent of the peak
    return speed_up(graph, scenario, [&](Row row) -> std::optional<double> {
        std::uint32_t at = rates.rate_of_kernel[row];
        if (at == kNoRow) return std::nullopt;
        const OpRate& rate = rates.rates[at];
        // Far from both peaks, something else limits the kernel. Nominal FLOPs are too few, and would promise too much.
        if (!rate.bound || rate.nominal) return std::nullopt;
        return std::min(1.0, std::max(rate.compute_pct.value_or(0), rate.bandwidth_pct.value_or(0)) / reached);
    });
}

}  // namespace gpuprof::replay
