#include "analyze/facts/steps/engines.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/model/build/submission.h"

namespace gpuprof::inline facts {
namespace {

// What a text marks, looked up once per text.
struct Marks {
    std::optional<ServingBatch> step;
    std::optional<ServingPart> part;
};

struct FoundSteps {
    StepSource source = StepSource::annotation;
    std::vector<EngineStep> steps;
};
using StepsOfThread = std::map<StringId, FoundSteps>;

// Of nested marks of one step the outer one counts; what only the inner one says is added to it.
void add_step(std::vector<EngineStep>& steps, const EngineStep& next) {
    if (steps.empty() || next.start >= steps.back().end) {
        steps.push_back(next);
        return;
    }
    ServingBatch& batch = steps.back().batch;
    if (batch.phase == ServingPhase::unknown) batch.phase = next.batch.phase;
    for (auto field : {&ServingBatch::requests, &ServingBatch::prefill_requests, &ServingBatch::decode_requests,
                       &ServingBatch::tokens, &ServingBatch::prefill_tokens, &ServingBatch::decode_tokens,
                       &ServingBatch::prefill_kv, &ServingBatch::decode_kv})
        if (!(batch.*field)) batch.*field = next.batch.*field;
}

// Calls visit(row, text id, text) for each row whose text `look` accepts, by start. Texts are looked at once.
template <class Table, class Look, class Visit>
void each_marked(const Trace& trace, const Table& table, Look&& look, Visit&& visit) {
    using Mark = decltype(look(std::string_view()));
    std::map<StringId, Mark> known;
    std::vector<bool> seen(trace.strings().size());
    for (Row row = 0; row < table.rows; ++row) {
        StringId name = table.name.value_or(row, kNoString);
        if (name == kNoString) continue;
        if (!seen[index_of(name)]) {
            seen[index_of(name)] = true;
            if (Mark mark = look(trace.text(name))) known.emplace(name, mark);
        }
        if (known.empty()) continue;
        if (auto mark = known.find(name); mark != known.end()) visit(row, name, *mark->second);
    }
}

StepsOfThread annotated_steps(const Trace& trace) {
    StepsOfThread found;
    const RangeTable& ranges = trace.range();
    StringId annotation = trace.strings().find("user_annotation");
    each_marked(trace, ranges, parse_serving_step, [&](Row row, StringId name, const ServingBatch& batch) {
        FoundSteps& to = found[ranges.thread.value_or(row, kNoString)];
        bool kineto = annotation != kNoString && ranges.domain.value_or(row, kNoString) == annotation;
        to.source = kineto ? StepSource::annotation : StepSource::range;
        add_step(to.steps, {ranges.start[row], ranges.start[row] + ranges.dur[row], name, batch});
    });
    return found;
}

template <class Table>
StepsOfThread steps_of_part(const Trace& trace, const Table& table, StepSource source, ServingPart part,
                            std::optional<ServingPart> (*look)(std::string_view)) {
    StepsOfThread found;
    each_marked(trace, table, look, [&](Row row, StringId, ServingPart here) {
        if (here != part) return;
        FoundSteps& to = found[table.thread.value_or(row, kNoString)];
        to.source = source;
        add_step(to.steps, {table.start[row], table.start[row] + table.dur[row], kNoString, {}});
    });
    return found;
}

// Dummy batches of idle ranks have no range of their own, but a Python function.
void add_dummies(const Trace& trace, StepsOfThread& found) {
    const PythonCallTable& calls = trace.tables().python_call;
    each_marked(trace, calls, serving_part_of_frame, [&](Row row, StringId name, ServingPart part) {
        auto thread = found.find(calls.thread.value_or(row, kNoString));
        if (part != ServingPart::dummy || thread == found.end()) return;
        ServingBatch batch;
        batch.phase = ServingPhase::dummy;
        batch.requests = batch.tokens = 0;
        EngineStep dummy{calls.start[row], calls.start[row] + calls.dur[row], name, batch};
        auto& steps = thread->second.steps;
        auto after = std::upper_bound(steps.begin(), steps.end(), dummy.start,
                                      [](TimeNs at, const EngineStep& step) { return at < step.start; });
        if (after == steps.begin() || (after - 1)->end <= dummy.start) steps.insert(after, dummy);
    });
}

// Of steps that Python functions or scopes mark, the phase by functions in them and in the scheduling before.
void add_phases(const Trace& trace, StepsOfThread& found) {
    const PythonCallTable& calls = trace.tables().python_call;
    struct Seen {
        std::optional<PhaseSign> sign;
        bool scheduled = false;
    };
    std::map<StringId, std::vector<Seen>> seen;
    auto visit = [&](Row row, auto&& note) {
        auto thread = found.find(calls.thread.value_or(row, kNoString));
        if (thread == found.end()) return;
        const auto& steps = thread->second.steps;
        auto step = std::partition_point(steps.begin(), steps.end(),
                                         [&](const EngineStep& each) { return each.end <= calls.start[row]; });
        if (step == steps.end()) return;
        std::vector<Seen>& of = seen[thread->first];
        of.resize(steps.size());
        note(of[static_cast<std::size_t>(step - steps.begin())]);
    };
    each_marked(trace, calls, phase_sign_of_frame, [&](Row row, StringId, PhaseSign sign) {
        visit(row, [&](Seen& to) { to.sign = std::max(to.sign.value_or(sign), sign); });
    });
    if (seen.empty()) return;
    each_marked(trace, calls, serving_part_of_frame, [&](Row row, StringId, ServingPart part) {
        if (part == ServingPart::schedule) visit(row, [](Seen& to) { to.scheduled = true; });
    });
    constexpr ServingPhase kPhase[] = {ServingPhase::decode, ServingPhase::prefill, ServingPhase::mixed,
                                       ServingPhase::dummy, ServingPhase::verify};
    for (auto& [thread, of] : seen)
        for (std::size_t i = 0; i < of.size(); ++i) {
            ServingBatch& batch = found[thread].steps[i].batch;
            bool told = of[i].sign && (of[i].sign != PhaseSign::prefill || of[i].scheduled);
            if (told && batch.phase == ServingPhase::unknown)
                batch.phase = kPhase[static_cast<std::size_t>(*of[i].sign)];
        }
}

StepsOfThread marked_steps(const Trace& trace) {
    const PythonCallTable& frames = trace.tables().python_call;
    StepsOfThread found = annotated_steps(trace);
    if (found.empty())
        found = steps_of_part(trace, trace.range(), StepSource::scopes, ServingPart::step, serving_part_of_scope);
    if (found.empty())
        found = steps_of_part(trace, trace.range(), StepSource::scopes, ServingPart::launch, serving_part_of_scope);
    for (ServingPart part : {ServingPart::step, ServingPart::execute})
        if (found.empty()) found = steps_of_part(trace, frames, StepSource::frames, part, serving_part_of_frame);
    if (!found.empty()) add_dummies(trace, found);
    bool told = std::any_of(found.begin(), found.end(),
                            [](const auto& each) { return each.second.source <= StepSource::range; });
    if (!told) add_phases(trace, found);
    return found;
}

// The ops of one thread, on each device.
using OpsOfThread = std::map<StringId, std::map<std::int32_t, std::vector<LaunchedOp>>>;

class GraphLaunches {
public:
    explicit GraphLaunches(const Trace& trace) : trace_(trace) {}
    bool has(Row call) {
        StringId name = trace_.api_call().name.value_or(call, kNoString);
        if (name == kNoString) return false;
        auto [known, added] = known_.try_emplace(name, false);
        if (added) known->second = submission_of(trace_.text(name)) == Submission::graph;
        return known->second;
    }

private:
    const Trace& trace_;
    std::map<StringId, bool> known_;
};

template <class Table>
void add_ops(const Trace& trace, const Table& table, DeviceOp kind, std::int64_t only, GraphLaunches& graphs,
             OpsOfThread& to) {
    const ApiCallTable& calls = trace.api_call();
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        Row call = launch_of(trace, kind, row);
        if (call == kNoRow || (only >= 0 && device != only)) continue;
        TimeNs start = table.start[row];
        to[calls.thread.value_or(call, kNoString)][device].push_back(
            {call, kind, row, {start, start + table.dur[row]}, graphs.has(call)});
    }
}

void sort_by_launch(const Trace& trace, std::vector<LaunchedOp>& ops) {
    const ApiCallTable& calls = trace.api_call();
    std::sort(ops.begin(), ops.end(), [&](const LaunchedOp& a, const LaunchedOp& b) {
        return std::tuple(calls.start[a.call], a.call, a.span.start, a.kind, a.row) <
               std::tuple(calls.start[b.call], b.call, b.span.start, b.kind, b.row);
    });
}

StringId process_of(const Trace& trace, StringId thread) {
    const ThreadTable& threads = trace.tables().thread;
    for (Row row = 0; row < threads.rows; ++row)
        if (threads.key.value_or(row, kNoString) == thread) return threads.process.value_or(row, kNoString);
    return kNoString;
}

// Of several threads of one process, the one that launches most.
void keep_one_per_process(std::vector<Engine>& engines) {
    auto weight = [](const Engine& engine) { return std::pair(engine.ops.size(), engine.graph_launches.size()); };
    std::stable_sort(engines.begin(), engines.end(),
                     [&](const Engine& a, const Engine& b) { return weight(a) > weight(b); });
    std::vector<Engine> kept;
    for (Engine& engine : engines) {
        bool known = std::any_of(kept.begin(), kept.end(), [&](const Engine& other) {
            return other.process == engine.process && engine.process != kNoString;
        });
        if (!known) kept.push_back(std::move(engine));
    }
    std::sort(kept.begin(), kept.end(), [](const Engine& a, const Engine& b) { return a.thread < b.thread; });
    engines = std::move(kept);
}

template <class Table, class Is>
bool any_name(const Trace& trace, const Table& table, const Column<StringId>& names, Is&& is) {
    std::size_t strings = trace.strings().size();
    std::vector<std::uint8_t> seen(strings);
    if (strings < table.rows) {  // then most tables need not be read
        bool any = false;
        for (std::size_t i = 0; i < strings; ++i) {
            seen[i] = !is(trace.strings()[static_cast<StringId>(i)]);
            any = any || seen[i] == 0;
        }
        if (!any) return false;
    }
    for (Row row = 0; row < table.rows; ++row) {
        StringId name = names.value_or(row, kNoString);
        if (name == kNoString || seen[index_of(name)] != 0) continue;
        seen[index_of(name)] = 1;
        if (is(trace.text(name))) return true;
    }
    return false;
}

// A benchmark runs a kernel of a server, with a few others that fill and clear; a layer of a model has products, norms,
// activations, attention and a KV cache.
bool has_kernels_of_a_model(const Trace& trace) {
    constexpr std::size_t kLeastKernels = 6;  // with different names
    std::set<StringId> names;
    const KernelTable& kernels = trace.kernel();
    for (Row row = 0; row < kernels.rows && names.size() < kLeastKernels; ++row)
        if (kernels.name.has(row)) names.insert(kernels.name[row]);
    return names.size() >= kLeastKernels;
}

}  // namespace

std::string_view name_of(StepSource source) {
    constexpr std::string_view kNames[] = {"annotation", "range", "scopes", "frames", "copies", "graphs"};
    return kNames[static_cast<std::size_t>(source)];
}

bool is_of_a_server(const Trace& trace) {
    const Tables& tables = trace.tables();
    return any_name(trace, tables.process, tables.process.name, is_serving_process) ||
           any_name(trace, tables.thread, tables.thread.name, is_serving_process) ||
           any_name(trace, tables.python_call, tables.python_call.name, is_serving_process) ||
           (any_name(trace, tables.kernel, tables.kernel.name, is_serving_kernel) && has_kernels_of_a_model(trace));
}

std::vector<Engine> find_engines(const Trace& trace, std::int64_t only_device) {
    StepsOfThread marked = marked_steps(trace);
    std::vector<Engine> engines;
    if (marked.empty() && !is_of_a_server(trace)) return engines;
    OpsOfThread ops;
    GraphLaunches graphs(trace);
    add_ops(trace, trace.kernel(), DeviceOp::kernel, only_device, graphs, ops);
    add_ops(trace, trace.memcpy(), DeviceOp::memcpy, only_device, graphs, ops);
    add_ops(trace, trace.memset(), DeviceOp::memset, only_device, graphs, ops);
    bool by_marks = !marked.empty();
    if (!by_marks)
        for (auto& [thread, devices] : ops) marked[thread];
    for (auto& [thread, found] : marked) {
        Engine& engine = engines.emplace_back();
        engine.thread = thread;
        engine.process = process_of(trace, thread);
        engine.source = found.source;
        engine.steps = std::move(found.steps);
        for (auto& [device, of_device] : ops[thread])
            if (of_device.size() > engine.ops.size()) {
                engine.ops = std::move(of_device);
                engine.device = device;
            }
        sort_by_launch(trace, engine.ops);
    }
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, Engine*> of_thread;
    for (Engine& engine : engines) of_thread[engine.thread] = &engine;
    for (Row call = 0; call < calls.rows; ++call)
        if (graphs.has(call))
            if (auto engine = of_thread.find(calls.thread.value_or(call, kNoString)); engine != of_thread.end())
                engine->second->graph_launches.push_back(call);
    keep_one_per_process(engines);
    // The front end of a server has ranges and no device.
    std::erase_if(engines, [](const Engine& engine) { return engine.ops.empty() && engine.graph_launches.empty(); });
    if (by_marks) return engines;
    for (Engine& engine : engines) {
        engine.source = StepSource::copies;
        engine.steps = steps_by_copies(trace, engine.ops);
        if (!engine.steps.empty()) continue;
        engine.source = StepSource::graphs;
        engine.steps = steps_by_graphs(trace, engine.ops);
    }
    std::erase_if(engines, [](const Engine& engine) { return engine.steps.empty(); });
    return engines;
}

}  // namespace gpuprof::facts
