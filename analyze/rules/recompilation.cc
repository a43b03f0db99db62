// Compilation that goes on in the steps: shapes, types or Python values that change make the framework compile again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyze/facts/activity.h"
#include "analyze/facts/context.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/ascii.h"
#include "core/base/text/readable.h"
#include "core/model/trace.h"

namespace gpuprof::inline rules {
namespace {

// TorchDynamo, Inductor and AOTAutograd time their phases under these names; XLA and jax.jit theirs.
bool names_compilation(std::string_view name) {
    return contains_any(name,
                        {"(dynamo_timed)", "compile_inner", "XlaCompile", "backend_compile", "PjRtClient::Compile"});
}

struct Compilations {
    Intervals spans;  // one per outermost range or operator
    DurNs longest = 0;
    std::string_view what;
};

template <class Table>
void add_compilations(const Trace& trace, const Table& table, Compilations& found) {
    std::vector<std::int8_t> known(trace.strings().size(), -1);
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.name.has(row)) continue;
        std::int8_t& is = known[index_of(table.name[row])];
        if (is < 0) is = names_compilation(trace.text(table.name[row])) ? 1 : 0;
        if (is == 0) continue;
        found.spans.push_back({table.start[row], table.start[row] + table.dur[row]});
        if (table.dur[row] <= found.longest) continue;
        found.longest = table.dur[row];
        found.what = trace.text(table.name[row]);
    }
}

// Steps in which a compilation begins.
std::size_t steps_with(const Steps& steps, const Intervals& spans) {
    std::set<std::size_t> found;
    for (const Interval& span : spans)
        if (std::optional<std::size_t> step = step_at(steps.steps, span.start)) found.insert(*step);
    return found.size();
}

DurNs idle_during(const Facts& facts, const Intervals& spans) {
    DurNs sum = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) sum += length(subtract(spans, device.busy));
    return sum;
}

Ruling look_for_recompilation(const Facts& facts) {
    Compilations found;
    add_compilations(facts.trace(), facts.trace().range(), found);
    add_compilations(facts.trace(), facts.trace().op(), found);
    if (found.spans.empty()) return Ruling::silent();
    std::sort(found.spans.begin(), found.spans.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    Intervals spans = unite(found.spans);
    const Steps& steps = facts.get<Steps>();
    std::size_t compiling = steps_with(steps, spans);
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    finding.cost_ns = idle_during(facts, spans);
    if (shares.effective_pct(finding.cost_ns) < kMinFindingPct) return Ruling::silent();
    if (steps.steps.empty())
        return Ruling::abstain(
            fmt::format("the GPU waits {} for compilation, and without steps this may be the start of the program",
                        readable_duration(finding.cost_ns)));
    // The first step compiles in every healthy program.
    if (compiling < 2) return Ruling::silent();
    finding.title = fmt::format("The GPU waits for compilation {}", share_text(facts, finding.cost_ns));
    finding.evidence.push_back(fmt::format("{} of {} steps compile, {} in total; longest {} ({})",
                                           spoken_count(compiling), spoken_count(steps.steps.size()),
                                           readable_duration(length(spans)), readable_duration(found.longest),
                                           found.what));
    finding.place = std::string(found.what);
    finding.remedy =
        facts.get<Context>().framework == Framework::jax
            ? "Keep what jit compiles for constant: pad inputs to a few shapes, pass changing Python values as arrays, "
              "and set jax_log_compiles to see what is compiled again."
            : "Keep what is compiled for constant: pad inputs to a few shapes or mark the size that changes with "
              "torch._dynamo.mark_dynamic, pass changing Python numbers as tensors; TORCH_LOGS=recompiles names the "
              "guard that failed.";
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the recording covers the start of the program, where every shape is compiled once";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kRecompilation{"recompilation", "Steps that wait for the framework to compile again.",
                          look_for_recompilation, Effort::edit, true};

}  // namespace gpuprof::rules
