// How long kernels would take without the patterns that rules name: attention in pieces, odd sizes, updates tensor by tensor. Each
// length is a part of the recorded one, and never more than another change left of it, so that changes that speed up the same
// kernels promise it once.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "analyze/facts/context.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/kernels/optimizer_updates.h"
#include "analyze/facts/kernels/unfused_attention.h"
#include "analyze/replay/kernel_speed.h"
#include "core/model/trace.h"

namespace gpuprof::inline replay {
namespace {

// AdamW one tensor at a time reads or writes a tensor about 30 times, fused 7 times; small kernels gain more than that.
constexpr std::array kFusedUpdate{0.5, 0.25, 0.1};
// Of the host's time in an update: foreach and fused optimizers call once for many tensors, and still collect them in Python.
constexpr std::array kFusedHost{0.3, 0.1, 0.02};
// Percent of the arithmetic peak that fused attention reaches, forward and backward: FlashAttention 2 and 3 as published for A100 and
// H100, over head sizes of 64 to 256 and sequences from 512.
constexpr std::array kFusedAttentionPct{35.0, 55.0, 85.0};
// Of the time of the two products, if their shapes are unknown; and of the passes over the scores, of which masks may remain.
constexpr std::array kFusedProducts{1.0, 0.7, 0.3}, kRemainingPasses{0.4, 0.0, 0.0};
// Products with rows of one or two elements, and with rows of half of what a load takes, if their shapes are unknown.
constexpr std::array kPaddedOdd{0.9, 0.5, 0.2}, kPaddedHalf{0.95, 0.7, 0.3};
// Percent of the arithmetic and memory peaks that aligned products reach; the first only if no other product of the recording says it.
constexpr std::array kAlignedPct{40.0, 60.0, 75.0}, kAlignedMemoryPct{70.0, 80.0, 90.0};
constexpr double kLeastAlignedPct = 25, kLeastPadded = 0.1;
// Of layout conversions: the first and the last of a step may remain, or be what the program wants.
constexpr std::array kRemainingLayouts{0.5, 0.1, 0.0};
constexpr DurNs kLeastKernel = 2'000;

double at(const std::array<double, 3>& values, Estimate estimate) {
    return value_of(estimate, values[0], values[1], values[2]);
}

// The kernel that a point is, or kNoRow.
Row kernel_at(const ReplayGraph& graph, Point p) {
    bool is = graph.info[p].kind == PointKind::op && op_kind(graph.object[p]) == DeviceOp::kernel;
    return is ? op_row(graph.object[p]) : kNoRow;
}

void limit(const ReplayGraph& graph, Scenario& scenario, Point p, double factor) {
    auto part = static_cast<DurNs>(std::llround(factor * static_cast<double>(graph.length[p])));
    scenario.length.set(p, std::min(scenario.length[p], std::max(part, std::min(graph.length[p], kLeastKernel))));
}

const OpRate* rate_of(const Facts& facts, Row kernel) {
    const OpRates& rates = facts.get<OpRates>();
    if (rates.rate_of_kernel.empty() || rates.rate_of_kernel[kernel] == kNoRow) return nullptr;
    return &rates.rates[rates.rate_of_kernel[kernel]];
}

// Percent of the arithmetic peak that aligned products on tensor cores reach here, by their time; absent without shapes.
std::optional<double> aligned_pct(const Facts& facts, const std::vector<bool>& slow) {
    const KernelTable& kernels = facts.trace().kernel();
    const OpRates& rates = facts.get<OpRates>();
    std::vector<bool> aligned(rates.rates.size());
    for (Row row = 0; row < rates.rate_of_kernel.size(); ++row)
        if (std::uint32_t at = rates.rate_of_kernel[row]; at != kNoRow && kernels.name.has(row))
            aligned[at] = rates.rates[at].path.unit == MathUnit::tensor && !slow[index_of(kernels.name[row])];
    double weighted = 0, time = 0;
    for (std::size_t i = 0; i < aligned.size(); ++i) {
        const OpRate& rate = rates.rates[i];
        if (!aligned[i] || !rate.compute_pct || rate.bound != Bound::compute) continue;
        weighted += *rate.compute_pct * static_cast<double>(rate.device_ns);
        time += static_cast<double>(rate.device_ns);
    }
    if (time == 0) return std::nullopt;
    return std::max(kLeastAlignedPct, weighted / time);
}

}  // namespace

bool fuse_optimizer(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const OptimizerUpdates& updates = facts.get<OptimizerUpdates>();
    if (!updates.by_tensor) return false;
    double device = at(kFusedUpdate, estimate), host = at(kFusedHost, estimate);
    std::vector<bool> begun(updates.all.size());
    for (Point p = 0; p < graph.points(); ++p) {
        const PointInfo& info = graph.info[p];
        if (Row kernel = kernel_at(graph, p); kernel != kNoRow) {
            std::uint32_t update = updates.of_call(facts.trace().links().kernel_launch[kernel]);
            if (update == kNoRow) continue;
            auto part = static_cast<DurNs>(device * static_cast<double>(graph.length[p]));
            DurNs gap = begun[update] ? gap_into(graph, scenario, p) : 0;
            begun[update] = true;
            scenario.length.set(p, std::min(scenario.length[p], part - gap));
        } else if (info.kind == PointKind::call_start || info.kind == PointKind::call_end) {
            Row call = graph.object[p];
            std::uint32_t update = updates.of_call(call);
            // Before the first call is also what the program did before the update.
            bool outside =
                info.kind == PointKind::call_start && update != kNoRow && updates.all[update].first_call == call;
            if (update == kNoRow || outside || info.waits) continue;
            scenario.length.set(
                p, std::min(scenario.length[p], static_cast<DurNs>(host * static_cast<double>(graph.length[p]))));
        }
    }
    return true;
}

bool fuse_attention(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const UnfusedAttention& attention = facts.get<UnfusedAttention>();
    if (attention.count < 2) return false;
    double remains = at(kRemainingPasses, estimate);
    std::vector<bool> gone(facts.trace().api_call().rows), needed(facts.trace().api_call().rows);
    for (Point p = 0; p < graph.points(); ++p) {
        Row kernel = kernel_at(graph, p);
        if (kernel == kNoRow) continue;
        AttentionRole role = attention.role_of(kernel);
        bool goes = role == AttentionRole::pass && remains == 0;
        if (Row call = facts.trace().links().kernel_launch[kernel]; call != kNoRow) (goes ? gone : needed)[call] = true;
        if (role == AttentionRole::product) {
            const OpRate* rate = rate_of(facts, kernel);
            double factor = rate != nullptr && rate->compute_pct && rate->path.unit == MathUnit::tensor
                                ? *rate->compute_pct / at(kFusedAttentionPct, estimate)
                                : at(kFusedProducts, estimate);
            limit(graph, scenario, p, std::clamp(factor, kLeastPadded, 1.0));
        } else if (goes) {
            scenario.length.set(p, std::min(scenario.length[p], -gap_into(graph, scenario, p)));
        } else if (role == AttentionRole::pass) {
            limit(graph, scenario, p, remains);
        }
    }
    for (Point p = 0; p < graph.points(); ++p)
        if (Row call = graph.object[p]; graph.info[p].kind == PointKind::call_end && gone[call] && !needed[call])
            scenario.length.set(p, 0);
    return true;
}

bool keep_layout(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const KernelTable& kernels = facts.trace().kernel();
    std::vector<bool> selected(facts.trace().strings().size());
    bool any = false;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups)
        if (group.name != kNoString && changes_layout(group.traits)) any = selected[index_of(group.name)] = true;
    double remains = at(kRemainingLayouts, estimate);
    for (Point p = 0; any && p < graph.points(); ++p) {
        Row kernel = kernel_at(graph, p);
        if (kernel == kNoRow || !kernels.name.has(kernel) || !selected[index_of(kernels.name[kernel])]) continue;
        auto part = static_cast<DurNs>(remains * static_cast<double>(graph.length[p]));
        scenario.length.set(p, std::min(scenario.length[p], remains > 0 ? part : -gap_into(graph, scenario, p)));
    }
    return any;
}

bool pad_products(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const Trace& trace = facts.trace();
    int capability = facts.get<Context>().capability;
    std::vector<bool> slow(trace.strings().size());
    std::vector<double> by_name(trace.strings().size());
    bool any = false;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        if (group.name == kNoString) continue;
        bool odd = is_misaligned(group.traits);
        if (!odd && !is_outdated(group.traits, capability)) continue;
        any = slow[index_of(group.name)] = true;
        by_name[index_of(group.name)] = at(odd && group.traits.alignment > 2 ? kPaddedHalf : kPaddedOdd, estimate);
    }
    if (!any) return false;
    std::optional<double> aligned = aligned_pct(facts, slow);
    double reached =
        aligned ? *aligned * at(kAlignedPct, estimate) / at(kAlignedPct, Estimate::central) : at(kAlignedPct, estimate);
    for (Point p = 0; p < graph.points(); ++p) {
        Row kernel = kernel_at(graph, p);
        if (kernel == kNoRow || !trace.kernel().name.has(kernel)) continue;
        std::size_t name = index_of(trace.kernel().name[kernel]);
        if (!slow[name]) continue;
        const OpRate* rate = rate_of(facts, kernel);
        double factor = by_name[name];
        if (rate != nullptr && rate->compute_pct && !rate->nominal)
            factor = std::max(*rate->compute_pct / reached,
                              rate->bandwidth_pct.value_or(0) / at(kAlignedMemoryPct, estimate));
        limit(graph, scenario, p, std::clamp(factor, kLeastPadded, 1.0));
    }
    return true;
}

}  // namespace gpuprof::replay
