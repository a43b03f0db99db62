#include "analyze/facts/steps/iterations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/stat.h"
#include "core/base/fnv.h"

namespace gpuprof::inline facts {
namespace {

constexpr double kFullGraph = 0.5;        // share of an iteration's ops in one launch that makes it a full graph
constexpr std::size_t kLayerKernels = 4;  // kernels that occur equally often, to call that number layers
constexpr double kSlowFirst = 1.2;        // x the median of its kind: the first of a kind compiles, loads or allocates
constexpr std::int64_t kBudgetUnit =
    64;                                // prompts are cut where tokens reach a budget, and budgets are multiples of this
constexpr std::size_t kMinSteady = 5;  // iterations
constexpr std::size_t kInterruption = 2;  // iterations of a steady part that may have fewer requests

using OpRange = std::pair<std::size_t, std::size_t>;

// How often most of the kernels of one iteration run, by the number of different ones.
std::size_t layers_of(const Trace& trace, const LaunchedOp* begin, const LaunchedOp* end) {
    std::map<StringId, std::size_t> counts;
    for (const LaunchedOp* op = begin; op != end; ++op)
        if (op->kind == DeviceOp::kernel) ++counts[trace.kernel().name.value_or(op->row, kNoString)];
    std::map<std::size_t, std::size_t> kernels_by_count;
    for (auto& [name, count] : counts) ++kernels_by_count[count];
    std::size_t layers = 0, most = kLayerKernels - 1;
    for (auto& [count, kernels] : kernels_by_count)
        if (count > 1 && kernels > most) {
            layers = count;
            most = kernels;
        }
    return layers;
}

// Of a part of a recording, work before the first iteration is that of others: its wall time begins with their end.
TimeNs begin_of_first(const Trace& trace, const DeviceActivity* device, TimeNs start) {
    if (!trace.is_part() || device == nullptr) return start;
    auto after = std::partition_point(device->busy.begin(), device->busy.end(),
                                      [&](const Interval& each) { return each.end <= start; });
    return after == device->busy.begin() ? std::min(start, trace.window().start) : (after - 1)->end;
}

// The work of one iteration, and which parts of a device's time are inside one launch of a graph.
void measure_work(const Trace& trace, const Engine& engine, OpRange range, const DeviceActivity* device,
                  Iteration& to) {
    const LaunchedOp *begin = engine.ops.data() + range.first, *end = engine.ops.data() + range.second;
    if (begin == end) return;
    Intervals busy, comm, in_graphs;
    to.ran = true;
    to.gpu = begin->span;
    std::size_t largest = 0, in_launch = 0;
    Row launch = kNoRow;
    Interval of_launch;
    for (const LaunchedOp* op = begin; op != end; ++op) {
        to.gpu = {std::min(to.gpu.start, op->span.start), std::max(to.gpu.end, op->span.end)};
        busy.push_back(op->span);
        if (op->kind == DeviceOp::kernel) {
            ++to.kernels;
            to.kernel_sum += op->span.length();
            StringId name = trace.kernel().name.value_or(op->row, kNoString);
            if (name != kNoString && device != nullptr && !device->comm.empty() &&
                is_collective_kernel(trace.text(name)))
                comm.push_back(op->span);
        } else {
            ++(op->kind == DeviceOp::memcpy ? to.copies : to.fills);
        }
        if (!op->graph) continue;
        ++to.graph_ops;
        if (op->call != launch) {
            if (launch != kNoRow) in_graphs.push_back(of_launch);
            launch = op->call;
            of_launch = op->span;
            in_launch = 0;
        }
        of_launch = {std::min(of_launch.start, op->span.start), std::max(of_launch.end, op->span.end)};
        largest = std::max(largest, ++in_launch);
    }
    if (launch != kNoRow) in_graphs.push_back(of_launch);
    to.own_busy = length(unite(std::move(busy)));
    to.layers = layers_of(trace, begin, end);
    auto ops = static_cast<double>(range.second - range.first);
    if (static_cast<double>(to.graph_ops) >= kFullGraph * ops)
        to.mode = static_cast<double>(largest) >= kFullGraph * ops ? GraphMode::full : GraphMode::piecewise;
    if (to.first) to.begin = begin_of_first(trace, device, to.gpu.start);
    if (device == nullptr) return;
    IntervalSet collectives = unite(std::move(comm));
    to.comm = length(collectives);
    if (to.comm > 0) to.exposed_comm = length(subtract(collectives, device->compute()));
    auto idle_in = [&](Interval part) {
        return part.end > part.start ? part.length() - length_within(device->busy, part) : DurNs{0};
    };
    Interval wall{to.begin, to.gpu.end};
    if (wall.end <= wall.start) return;
    Interval before{wall.start, std::clamp(to.gpu.start, wall.start, wall.end)}, inside{before.end, wall.end};
    to.idle_before = idle_in(before);
    for (const Interval& each : unite(std::move(in_graphs)))
        to.idle_graph += idle_in({std::max(each.start, inside.start), std::min(each.end, inside.end)});
    to.idle_inside = idle_in(inside) - to.idle_graph;
}

const DeviceActivity* activity_of(const Facts& facts, std::int32_t device) {
    for (const DeviceActivity& each : facts.get<Activity>().devices)
        if (each.device == device) return &each;
    return nullptr;
}

// Bytes of a result per sampled row that fit most iterations: 8 or 4; 0 if neither is more plausible.
std::int64_t bytes_per_row(const std::vector<Iteration>& all, const std::vector<CopiedBatch>& copied) {
    std::size_t fits[2] = {0, 0};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!copied[i].result_bytes) continue;
        std::int64_t bytes = *copied[i].result_bytes;
        auto known = all[i].batch.requests ? all[i].batch.requests : copied[i].tokens;
        for (std::int64_t width : {8, 4})
            if (bytes % width == 0 && known && bytes / width == *known) ++fits[width == 8 ? 0 : 1];
    }
    return fits[0] == fits[1] ? 0 : fits[0] > fits[1] ? 8 : 4;
}

// The phase of a step of which only tokens and requests are known. With as many tokens as requests, all decode, unless a prompt was
// cut in the step before. With more, those that sampled before decode, if there are new ones; in the first step that is
// known only if requests are still arriving.
void guess_phase(ServingBatch& batch, std::optional<std::int64_t> before, const CopiedBatch& next, std::int64_t width) {
    std::int64_t requests = *batch.requests, tokens = *batch.tokens;
    if (!before || tokens < requests || (tokens > requests && *before >= requests)) return;
    bool arriving = next.result_bytes && *next.result_bytes > requests * width;
    if (tokens > requests && *before == 0 && !arriving) return;
    std::int64_t decoding = tokens == requests ? requests : *before;
    batch.decode_requests = decoding;
    batch.prefill_requests = requests - decoding;
    batch.phase = decoding == 0         ? ServingPhase::prefill
                  : decoding < requests ? ServingPhase::mixed
                                        : ServingPhase::decode;
}

// What the text does not say, from the copies. A request that sampled in the step before decodes in this one.
void add_copied_batches(std::vector<Iteration>& all, const std::vector<CopiedBatch>& copied, bool texts) {
    std::int64_t width = bytes_per_row(all, copied);
    std::optional<std::int64_t> before = 0;  // requests that sampled in the step before
    for (std::size_t i = 0; i < all.size(); ++i) {
        ServingBatch& batch = all[i].batch;
        if (!all[i].ran || batch.phase == ServingPhase::dummy || batch.phase == ServingPhase::empty) continue;
        std::optional<std::int64_t> rows;
        if (copied[i].result_bytes && width > 0 && *copied[i].result_bytes % width == 0)
            rows = *copied[i].result_bytes / width;
        if (!batch.requests) batch.requests = rows;
        if (!batch.tokens) batch.tokens = copied[i].tokens;
        if (!texts && batch.requests && batch.tokens && batch.phase == ServingPhase::unknown)
            guess_phase(batch, before, i + 1 < all.size() ? copied[i + 1] : CopiedBatch{}, width);
        bool cut_prompt =
            batch.tokens && batch.requests && *batch.tokens > *batch.requests && *batch.tokens % kBudgetUnit == 0;
        bool prompts_ended = before.has_value();
        before = cut_prompt ? std::nullopt : batch.requests;
        if (!prompts_ended && !batch.decode_tokens && batch.phase == ServingPhase::mixed) continue;
        if (!batch.tokens || !batch.decode_requests || !batch.prefill_requests) continue;
        // Of the first dialect a running request may still be in its prompt: then there are more tokens than requests.
        if (batch.phase == ServingPhase::decode && *batch.tokens > *batch.decode_requests && !batch.decode_tokens) {
            batch.phase = ServingPhase::unknown;
            continue;
        }
        if (batch.phase == ServingPhase::verify || *batch.tokens < *batch.decode_requests) continue;
        if (!batch.decode_tokens) batch.decode_tokens = *batch.decode_requests;
        if (!batch.prefill_tokens) batch.prefill_tokens = *batch.tokens - *batch.decode_tokens;
    }
}

// Same phase and same graphs: the first of them compiles, loads and allocates.
std::uint64_t kind_of(const Iteration& iteration) {
    auto bucket = iteration.batch.tokens.value_or(0);
    std::uint64_t power = 0;
    while (bucket > 1) bucket /= 2, ++power;
    return (static_cast<std::uint64_t>(iteration.phase()) << 40) | (static_cast<std::uint64_t>(iteration.mode) << 32) |
           (iteration.mode == GraphMode::eager ? power : iteration.graph_ops);
}

// The longest run of iterations with nearly as many requests as ever, without the first of each kind if it is the only one, or
// slower than the others.
void find_steady(std::vector<Iteration>& all, std::size_t begin, std::size_t end) {
    std::int64_t peak = 0;
    for (std::size_t i = begin; i < end; ++i)
        if (all[i].has_requests()) peak = std::max(peak, all[i].batch.requests.value_or(0));
    if (peak == 0) return;
    auto full = static_cast<double>(peak) - std::max(1.0, 0.1 * static_cast<double>(peak));
    std::set<std::uint64_t> seen;
    std::size_t best_from = end, best_to = end;
    DurNs best = 0;
    std::map<std::uint64_t, std::vector<DurNs>> walls;
    for (std::size_t i = begin; i < end; ++i)
        if (all[i].ran) walls[kind_of(all[i])].push_back(all[i].wall());
    for (std::size_t i = begin; i < end; ++i) {
        if (!all[i].ran || !seen.insert(kind_of(all[i])).second) continue;
        std::vector<DurNs> others(walls[kind_of(all[i])]);
        others.erase(others.begin());
        if (others.empty() ||
            static_cast<double>(all[i].wall()) > kSlowFirst * static_cast<double>(nearest_rank(others, 50)))
            all[i].state = IterationState::warm_up;
    }
    auto wanted = [&](std::size_t i) {
        return all[i].ran && all[i].has_requests() &&
               (peak == 1 || static_cast<double>(all[i].batch.requests.value_or(0)) >= full);
    };
    for (std::size_t i = begin; i < end;) {
        if (!wanted(i)) {
            ++i;
            continue;
        }
        std::size_t last = i, next = i + 1;
        DurNs time = all[i].wall();
        DurNs held = 0;
        for (; next < end && next - last <= kInterruption + 1; ++next) {
            held += all[next].wall();
            if (!wanted(next)) continue;
            last = next;
            time += held;
            held = 0;
        }
        if (time > best) best = time, best_from = i, best_to = last + 1;
        i = last + 1;
    }
    std::size_t count = 0;
    for (std::size_t i = best_from; i < best_to; ++i) count += all[i].ran && all[i].state != IterationState::warm_up;
    if (count < kMinSteady) return;
    for (std::size_t i = begin; i < end; ++i) {
        if (!all[i].ran || all[i].state == IterationState::warm_up) continue;
        all[i].state = i < best_from  ? IterationState::ramp_up
                       : i >= best_to ? IterationState::ramp_down
                                      : IterationState::steady;
    }
}

void add_iterations(const Facts& facts, Engine& engine, std::size_t number, Iterations& to) {
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    const DeviceActivity* device = activity_of(facts, engine.device);
    std::vector<Iteration> all;
    std::vector<CopiedBatch> copied;
    bool texts = false, any = false;
    TimeNs done = 0;
    std::size_t at = 0, launch = 0;
    while (at < engine.ops.size() && !engine.steps.empty() &&
           calls.start[engine.ops[at].call] < engine.steps.front().start)
        ++at;
    while (launch < engine.graph_launches.size() && !engine.steps.empty() &&
           calls.start[engine.graph_launches[launch]] < engine.steps.front().start)
        ++launch;
    for (std::size_t i = 0; i < engine.steps.size(); ++i) {
        const EngineStep& step = engine.steps[i];
        bool last = i + 1 == engine.steps.size();
        TimeNs next = last ? INT64_MAX : engine.steps[i + 1].start;
        Iteration& iteration = all.emplace_back();
        iteration.engine = number;
        iteration.number = i;
        iteration.name = step.name;
        iteration.batch = step.batch;
        iteration.host_start = step.start;
        iteration.host = step.end - step.start;
        iteration.first = !any;
        std::size_t from = at;
        while (at < engine.ops.size() && calls.start[engine.ops[at].call] < next) ++at;
        for (; launch < engine.graph_launches.size() && calls.start[engine.graph_launches[launch]] < next; ++launch)
            ++iteration.graph_launches;
        iteration.begin = done;
        measure_work(trace, engine, {from, at}, device, iteration);
        for (std::size_t op = from; op < at; ++op)
            if (engine.ops[op].kind == DeviceOp::kernel)
                to.of_kernel[engine.ops[op].row] = static_cast<std::uint32_t>(to.all.size() + i);
        if (iteration.graph_launches > 0 && iteration.graph_ops == 0) iteration.mode = GraphMode::opaque;
        if (iteration.ran) {
            done = std::max(any ? done : iteration.gpu.end, iteration.gpu.end);
            any = true;
        }
        iteration.next = last ? std::max(step.end, at > from ? calls.start[engine.ops[at - 1].call] +
                                                                   calls.dur[engine.ops[at - 1].call]
                                                             : step.end)
                              : next;
        if (last) iteration.next = std::max(iteration.next, iteration.ran ? iteration.gpu.end : iteration.next);
        if (iteration.phase() == ServingPhase::empty && iteration.ran) iteration.batch.phase = ServingPhase::dummy;
        if (iteration.phase() == ServingPhase::dummy && !iteration.ran && iteration.graph_launches == 0)
            iteration.batch.phase = ServingPhase::empty;
        texts = texts || step.batch.phase != ServingPhase::unknown;
        copied.push_back(batch_of_copies(trace, engine.ops.data() + from, engine.ops.data() + at));
    }
    add_copied_batches(all, copied, texts);
    for (Iteration& each : all)
        if (!texts && !each.ran && each.graph_launches == 0)
            each.batch = {ServingPhase::empty, 0, 0, 0, 0, 0, 0, std::nullopt, std::nullopt};
    find_steady(all, 0, all.size());
    to.all.insert(to.all.end(), all.begin(), all.end());
}

std::string source_note(const Engine& engine) {
    switch (engine.source) {
        case StepSource::annotation:
        case StepSource::range: return "";
        case StepSource::scopes:
            return "Iterations are found by the engine's own ranges; the batch is read from copies.";
        case StepSource::frames:
            return "Iterations are found by Python functions of the engine; the batch is read from copies, assuming "
                   "that "
                   "no request ended.";
        case StepSource::copies:
            return "No range marks the iterations; they are found by the copies of inputs and results around each. "
                   "Phases "
                   "assume that no request ended in the step before.";
        case StepSource::graphs:
            return "No range marks the iterations; they are found by launches of CUDA graphs between copies of inputs.";
    }
    return "";
}

}  // namespace

std::string_view name_of(GraphMode mode) {
    constexpr std::string_view kNames[] = {"eager", "full", "piecewise", "opaque"};
    return kNames[static_cast<std::size_t>(mode)];
}

std::string_view name_of(IterationState state) {
    constexpr std::string_view kNames[] = {"steady", "warm-up", "ramp-up", "ramp-down", "outside"};
    return kNames[static_cast<std::size_t>(state)];
}

Iterations Iterations::make(const Facts& facts) {
    Iterations found;
    found.engines = find_engines(facts.trace(), facts.options().device);
    if (!found.engines.empty()) found.of_kernel.resize(facts.trace().kernel().rows, kNoIteration);
    for (std::size_t i = 0; i < found.engines.size(); ++i) {
        Engine& engine = found.engines[i];
        add_iterations(facts, engine, i, found);
        engine.ops = {};
        std::string note = source_note(engine);
        if (!note.empty() && std::find(found.notes.begin(), found.notes.end(), note) == found.notes.end())
            found.notes.push_back(std::move(note));
    }
    std::size_t opaque = static_cast<std::size_t>(std::count_if(
        found.all.begin(), found.all.end(), [](const Iteration& each) { return each.mode == GraphMode::opaque; }));
    if (opaque > 0)
        found.notes.push_back(fmt::format(
            "{} iterations launched CUDA graphs of which no work was recorded: their GPU time is unknown.", opaque));
    return found;
}

}  // namespace gpuprof::facts
