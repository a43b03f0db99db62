#include "analyze/replay/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "analyze/facts/context.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/link_to_host.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/steps/between_steps.h"
#include "analyze/facts/steps/iterations.h"
#include "analyze/knowledge/kernel_class.h"
#include "analyze/replay/kernel_speed.h"
#include "core/base/text/pattern.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::int64_t kStagedBytes = 64 << 10;  // pageable copies up to this return before they are done
constexpr DurNs kAsyncCopyCall = 8'000, kPinnedReturn = 4'000, kGraphNode = 100, kMaxGraphNode = 300;
constexpr double kMinHostShare = 0.15;  // of host time that remains when the recorder's cost is removed

bool outside_calls(const PointInfo& info) { return info.kind == PointKind::call_start || info.kind == PointKind::cut; }

DurNs scaled(DurNs time, double factor) { return std::llround(static_cast<double>(time) * factor); }

template <class Selects>
bool scale_host(const ReplayGraph& graph, Scenario& scenario, double factor, Selects&& selects) {
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind == PointKind::op || !selects(graph.info[p])) continue;
        DurNs length = scenario.length[p];
        any |= length > 0;
        scenario.length.set(p, scaled(length, factor));
    }
    return any;
}

bool scale_kernels(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                   const std::function<bool(std::string_view)>& selects) {
    const KernelTable& kernels = facts.trace().kernel();
    std::vector<char> known(facts.trace().strings().size(), 0);
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        StringId name = kernels.name.value_or(op_row(graph.object[p]), kNoString);
        if (name == kNoString) continue;
        char& selected = known[index_of(name)];
        if (selected == 0) selected = selects(facts.trace().text(name)) ? 2 : 1;
        if (selected != 2) continue;
        any = true;
        scenario.length.set(p, scaled(scenario.length[p], factor));
    }
    return any;
}

bool has_edges(const ReplayGraph& graph, EdgeKind kind) {
    return std::any_of(graph.edges.begin(), graph.edges.end(),
                       [&](const ReplayEdge& edge) { return edge.kind == kind; });
}

bool pin_copies(const Edit&, const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    const Trace& trace = facts.trace();
    const MemcpyTable& copies = trace.memcpy();
    CopyPaths paths(trace);
    const HostLink& link = facts.get<HostLink>();
    double bandwidth = value_of(estimate, link.low, link.central, link.high);
    auto changes = [&](Row row) {
        return paths.host_and_device(row) && paths.pageable(row) && copies.bytes.value_or(row, 0) > kStagedBytes;
    };
    std::vector<bool> calls(trace.api_call().rows);
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::memcpy) continue;
        Row row = op_row(graph.object[p]);
        if (!changes(row)) continue;
        any = true;
        auto bytes = static_cast<double>(copies.bytes[row]);
        if (bandwidth > 0) scenario.length.set(p, std::min(scenario.length[p], static_cast<DurNs>(bytes / bandwidth)));
        if (Row call = trace.links().memcpy_launch[row]; call != kNoRow) calls[call] = true;
    }
    if (!any) return false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::call_end || !calls[graph.object[p]]) continue;
        // The length of a call that waited is what its wait leaves over, and not the cost of an asynchronous copy.
        DurNs recorded = graph.info[p].waits ? trace.api_call().dur[graph.object[p]] : scenario.length[p];
        scenario.length.set(p, std::min(recorded, kAsyncCopyCall));
    }
    scenario.drop(EdgeKind::copy_to_device);
    // The driver moves pageable data once more after the device is done.
    for (const ReplayEdge& edge : graph.edges)
        if (edge.kind == EdgeKind::copy_to_host)
            scenario.lags[edge.lag].lag = std::min(scenario.lags[edge.lag].lag, kPinnedReturn);
    return true;
}

bool scale_copies(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    if (edit.factor == 0) pin_copies(edit, facts, graph, scenario, Estimate::high);
    const Trace& trace = facts.trace();
    CopyPaths paths(trace);
    std::vector<bool> calls(trace.api_call().rows);
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::memcpy) continue;
        Row row = op_row(graph.object[p]);
        if (!paths.host_and_device(row)) continue;
        any = true;
        scenario.length.set(p, scaled(scenario.length[p], edit.factor));
        if (Row call = trace.links().memcpy_launch[row]; call != kNoRow) calls[call] = true;
    }
    // A call that moves the data itself takes less too.
    for (Point p = 0; any && p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::call_end || !calls[graph.object[p]]) continue;
        scenario.length.set(
            p, std::max(std::min(scenario.length[p], kAsyncCopyCall), scaled(scenario.length[p], edit.factor)));
    }
    return any;
}

// At best the calls go away with the waits, and so do small copies to the host.
bool drop_waits(const Edit&, const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    if (!has_edges(graph, EdgeKind::sync_return)) return false;
    scenario.drop(EdgeKind::sync_return);
    // A host that samples needs the logits.
    std::optional<bool>& for_logits = scenario.waits_in(EngineStretch::sampling);
    if (!for_logits) for_logits = true;
    if (estimate != Estimate::high) return true;
    scale_host(graph, scenario, 0, [](const PointInfo& info) {
        return info.in_loop() && info.kind == PointKind::call_end && info.call == CallKind::sync &&
               info.stretch != EngineStretch::sampling;
    });
    const MemcpyTable& copies = facts.trace().memcpy();
    CopyPaths paths(facts.trace());
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::memcpy) continue;
        Row row = op_row(graph.object[p]);
        if (paths.to_host(row) && copies.bytes.value_or(row, kStagedBytes) < kStagedBytes)
            scenario.length.set(p, -gap_into(graph, scenario, p));
    }
    return true;
}

// Passes over the logits on the device that the chosen ids cost, instead of a copy: a softmax and an arg max, or a sort of them.
constexpr double kLeastPasses = 2, kPasses = 8, kMostPasses = 32;
constexpr double kLikelyBandwidth = 1'000;  // GB/s, of a device whose own is unknown

bool sample_on_device(const Edit&, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                      Estimate estimate) {
    const Trace& trace = facts.trace();
    const EngineStretches& engines = facts.get<EngineStretches>();
    if (engines.sampled_steps == 0) return false;
    scenario.waits_in(EngineStretch::sampling) = false;
    scale_host(graph, scenario, 0, [](const PointInfo& info) { return info.stretch == EngineStretch::sampling; });
    CopyPaths paths(trace);
    const std::vector<Row>& copies = engines.sampling_copies;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::memcpy) continue;
        Row row = op_row(graph.object[p]);
        if (!std::binary_search(copies.begin(), copies.end(), row)) continue;
        DurNs length = -gap_into(graph, scenario, p);
        if (paths.to_host(row)) {
            std::optional<DevicePeaks> peaks = peaks_of(trace, trace.memcpy().device.value_or(row, -1));
            double bandwidth = peaks ? peaks->memory_gb_per_s.value_or(kLikelyBandwidth) : kLikelyBandwidth;
            length = std::llround(value_of(estimate, kMostPasses, kPasses, kLeastPasses) *
                                  static_cast<double>(trace.memcpy().bytes.value_or(row, 0)) / bandwidth);
        }
        scenario.length.set(p, std::min(scenario.length[p], length));
    }
    return true;
}

bool use_graph(const Edit&, const Facts&, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    DurNs node = value_of<DurNs>(estimate, kMaxGraphNode, kGraphNode, 0);
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        const PointInfo& info = graph.info[p];
        if (info.kind == PointKind::op || !info.in_loop() || info.in_input || info.idle) continue;
        const DurNs length = scenario.length[p];
        bool launching = outside_calls(info) && length <= kMaxLaunching;
        DurNs most = length;
        if (info.kind == PointKind::call_end && info.call == CallKind::launch) most = node;
        if (launching) most = 0;
        if (most >= length) continue;
        any = true;
        scenario.length.set(p, most);
    }
    for (std::uint16_t lag : graph.stream_lags) scenario.lags[lag].lag = std::min(scenario.lags[lag].lag, node);
    return any;
}

DurNs at(const EstimatedNs& price, Estimate estimate) {
    return value_of(estimate, price.low, price.central, price.high);
}

// Takes `less` from a length that stays positive.
void shorten(PointLengths& lengths, Point p, DurNs less) {
    if (DurNs length = lengths[p]; less > 0 && length > 0) lengths.set(p, std::max<DurNs>(length - less, 1));
}

bool scale_input(const Edit& edit, const Facts&, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    return scale_host(graph, scenario, edit.factor, [](const PointInfo& info) { return info.in_input; });
}

bool scale_host_code(const Edit& edit, const Facts&, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    return scale_host(graph, scenario, edit.factor, [](const PointInfo& info) {
        return info.in_loop() && !info.in_input && !info.idle && outside_calls(info);
    });
}

bool scale_long_host_code(const Edit& edit, const Facts&, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    bool any = false;
    for (Point p = 0; p < graph.points(); ++p) {
        const PointInfo& info = graph.info[p];
        bool other =
            info.kind == PointKind::op || !info.in_loop() || info.in_input || info.idle || !outside_calls(info);
        if (other || graph.length[p] <= kMaxLaunching) continue;
        any = true;
        scenario.length.set(p, scaled(scenario.length[p], edit.factor));
    }
    return any;
}

// What the program does between steps, on the host and on the device; at best without its waits. Fetching input is another change.
// A server schedules the next step then, waits for the ids of the last one, and hands them on.
bool scale_between_steps(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    if (facts.get<Context>().server) {
        if (edit.factor == 0) scenario.waits_in(EngineStretch::between) = false;
        return scale_host(graph, scenario, edit.factor,
                          [](const PointInfo& info) { return info.stretch == EngineStretch::between && !info.idle; });
    }
    if (facts.get<BetweenSteps>().stretches.empty()) return false;
    for (Point p = 0; p < graph.points(); ++p)
        if (const PointInfo& info = graph.info[p]; info.between && !info.in_input && !info.idle)
            scenario.length.set(p, scaled(scenario.length[p], edit.factor));
    if (edit.factor > 0) return true;
    for (EdgeKind kind : {EdgeKind::sync_return, EdgeKind::copy_to_device, EdgeKind::copy_to_host,
                          EdgeKind::allocation_return, EdgeKind::back_pressure})
        scenario.between[static_cast<std::size_t>(kind)] = false;
    return true;
}

bool scale_allocation(const Edit& edit, const Facts&, const ReplayGraph& graph, Scenario& scenario, Estimate) {
    if (edit.factor == 0) scenario.drop(EdgeKind::allocation_return);
    return scale_host(graph, scenario, edit.factor, [](const PointInfo& info) {
        return info.kind == PointKind::call_end && info.call == CallKind::allocation;
    });
}

bool separate_copies(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                     Estimate estimate) {
    if (!has_edges(graph, EdgeKind::copy_order)) return false;
    pin_copies(edit, facts, graph, scenario, estimate);
    scenario.drop(EdgeKind::copy_order);
    scenario.set(EdgeKind::bypass, true);
    return true;
}

bool scale_late_ranks(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                      Estimate estimate) {
    return scale_peer_waits(facts, graph, scenario, edit.factor, estimate);
}

bool scale_communication(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                         Estimate estimate) {
    return scale_transfers(facts, graph, scenario, edit.factor, estimate);
}

bool scale_selected_kernels(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                            Estimate) {
    if (edit.kernel > 0) {
        StringId kernel = facts.get<KernelNames>().with_handle(edit.kernel);
        if (kernel == kNoString) return false;
        std::string_view wanted = facts.trace().text(kernel);
        return scale_kernels(facts, graph, scenario, edit.factor,
                             [wanted](std::string_view name) { return name == wanted; });
    }
    Result<Pattern> pattern = Pattern::compile(edit.pattern);
    return pattern.ok() && scale_kernels(facts, graph, scenario, edit.factor,
                                         [&](std::string_view name) { return pattern->matches(name); });
}

// A change of kernels (kernel_speed.h), which is made or not.
template <auto& change>
bool change_kernels(const Edit&, const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    return change(facts, graph, scenario, estimate);
}

// In the order of Change.
constexpr std::array kChangeRules{
    ChangeRule{.name = "input",
               .assumes = "loader workers keep up with the GPU",
               .effort = Effort::option,
               .scales = true,
               .estimated = false,
               .limit = false,
               .rough = false,
               .apply = scale_input},
    ChangeRule{.name = "waits",
               .assumes = "the program does not need the values in that step",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = false,
               .apply = drop_waits},
    ChangeRule{.name = "device-sampling",
               .assumes = "penalties, biases and grammars run on the GPU, in 8 (2 to 32) passes over the logits",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = sample_on_device},
    ChangeRule{.name = "between-steps",
               .assumes = "saving, evaluating, logging or scheduling is rare, or happens during the steps",
               .effort = Effort::edit,
               .scales = true,
               .estimated = false,
               .limit = false,
               .rough = false,
               .apply = scale_between_steps},
    ChangeRule{.name = "pinned-copies",
               .assumes = "staging buffers are reused",
               .effort = Effort::option,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = false,
               .apply = pin_copies},
    ChangeRule{.name = "copy-stream",
               .assumes = "two buffers, so that a copy never waits for kernels",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = false,
               .apply = separate_copies},
    ChangeRule{.name = "copies",
               .assumes = "calls remain; the limit of copying less",
               .effort = Effort::edit,
               .scales = true,
               .estimated = false,
               .limit = true,
               .rough = false,
               .apply = scale_copies},
    ChangeRule{.name = "allocation",
               .assumes = "a caching allocator serves every request",
               .effort = Effort::edit,
               .scales = true,
               .estimated = false,
               .limit = false,
               .rough = false,
               .apply = scale_allocation},
    ChangeRule{.name = "long-host-code",
               .assumes = "stretches of host code over 200 us move to another thread or out of the loop",
               .effort = Effort::rewrite,
               .scales = true,
               .estimated = false,
               .limit = false,
               .rough = false,
               .apply = scale_long_host_code},
    ChangeRule{.name = "host-code",
               .assumes = "CUDA calls remain; the limit of a faster program",
               .effort = Effort::rewrite,
               .scales = true,
               .estimated = false,
               .limit = true,
               .rough = false,
               .apply = scale_host_code},
    ChangeRule{.name = "cuda-graph",
               .assumes = "static shapes, and no synchronization inside",
               .effort = Effort::rewrite,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = use_graph},
    ChangeRule{.name = "fusion",
               .assumes = "chains work on the same tensor, and the compiler fuses them",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = change_kernels<fuse_elementwise>},
    ChangeRule{.name = "tensor-cores",
               .assumes = "TF32 is precise enough; the range is from twice as fast to the ratio of the peaks",
               .effort = Effort::option,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = change_kernels<use_tensor_cores>},
    ChangeRule{.name = "bf16-products",
               .assumes = "16 bits are precise enough; the range is from 0.9 of the time to the ratio of the peaks",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = change_kernels<use_half_products>},
    ChangeRule{.name = "fused-optimizer",
               .assumes = "one kernel reads and writes each tensor once: a fourth of the time (a tenth to half)",
               .effort = Effort::option,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = change_kernels<fuse_optimizer>},
    ChangeRule{.name = "fused-attention",
               .assumes = "a fused kernel accepts the mask and the head size; it keeps the scores on the chip",
               .effort = Effort::edit,
               .scales = false,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = change_kernels<fuse_attention>},
    ChangeRule{
        .name = "padded-products",
        .assumes = "kernels for aligned sizes are as fast as others of this recording, or as such kernels usually are",
        .effort = Effort::edit,
        .scales = false,
        .estimated = true,
        .limit = false,
        .rough = true,
        .apply = change_kernels<pad_products>},
    ChangeRule{
        .name = "one-layout",
        .assumes = "operators accept one layout from end to end; a tenth of the conversions remains (none to half)",
        .effort = Effort::edit,
        .scales = false,
        .estimated = true,
        .limit = false,
        .rough = true,
        .apply = change_kernels<keep_layout>},
    ChangeRule{.name = "kernel-peaks",
               .assumes = "kernels with known shapes reach 80 % (60 to 100) of their peak; the limit of faster kernels",
               .effort = Effort::rewrite,
               .scales = false,
               .estimated = true,
               .limit = true,
               .rough = true,
               .apply = change_kernels<reach_peaks>},
    ChangeRule{.name = "late-ranks",
               .assumes = "the other ranks arrive on time: `ranks` on the recordings of all of them says which do not",
               .effort = Effort::edit,
               .scales = true,
               .estimated = true,
               .limit = false,
               .rough = true,
               .apply = scale_late_ranks},
    ChangeRule{.name = "communication",
               .assumes = "transfers are fully hidden; waits for late ranks remain",
               .effort = Effort::edit,
               .scales = true,
               .estimated = true,
               .limit = false,
               .rough = false,
               .apply = scale_communication},
    ChangeRule{.name = "kernel",
               .assumes = "other kernels keep their time",
               .effort = Effort::rewrite,
               .scales = true,
               .estimated = false,
               .limit = false,
               .rough = true,
               .apply = scale_selected_kernels},
};
static_assert(kChangeRules.size() == kChanges);

}  // namespace

const ChangeRule& rule_of(Change change) { return kChangeRules[static_cast<std::size_t>(change)]; }

std::vector<std::string_view> usual_change_names() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kUsualChanges; ++i) names.push_back(kChangeRules[i].name);
    return names;
}

bool remove_recorder(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate) {
    if (graph.recorded_work.empty()) return false;
    const RecordPrice& price = facts.get<RecorderPrice>().price;
    DurNs call = at(price.call, estimate), op = at(price.op, estimate), python = at(price.python, estimate),
          memory = at(price.memory, estimate), device_op = at(price.device_op, estimate);
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind == PointKind::op || graph.info[p].idle) continue;
        const RecordedWork& work = graph.recorded_work[p];
        DurNs cost = work.calls * call + work.ops * op + work.python * python + work.memory * memory + work.overhead_ns;
        auto least = static_cast<DurNs>(kMinHostShare * static_cast<double>(scenario.length[p]));
        scenario.length.set(p, std::max(scenario.length[p] - cost, least));
    }
    // Nodes of a graph follow so closely that recording them takes time from the nodes as well.
    for (const ReplayEdge& edge : graph.edges)
        if (std::find(graph.node_lags.begin(), graph.node_lags.end(), edge.lag) != graph.node_lags.end())
            shorten(scenario.length, edge.source, device_op - graph.lags[edge.lag].lag);
    for (std::uint16_t lag : graph.stream_lags)
        scenario.lags[lag].lag = std::max<DurNs>(0, scenario.lags[lag].lag - device_op);
    return true;
}

}  // namespace gpuprof::replay
