// `iterations`: what does each engine step of a server of language models cost? One row per worker and step, in the order of
// their launches; iterations.h has the definitions.
#include "analyze/facts/steps/iterations.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct IterationsRow {
    const Trace& trace;
    const Iteration& it;
    const Engine& engine;
    const HostParts& host;
    std::optional<std::int64_t> rank;
    bool slow;
    std::string why;
};

// Device times of a step whose graphs were not recorded are unknown.
template <class Value>
std::optional<Value> if_ran(const IterationsRow& r, Value value) {
    return r.it.has_times() ? std::optional(value) : std::nullopt;
}

constexpr auto kIterationsColumns = columns_of<IterationsRow>({
    {"iteration", CellType::integer, Unit::count, "Number in its worker, from 0.", [](auto& r) { return r.it.number; }},
    {"process", CellType::text, Unit::none, "Key of the worker's process.",
     [](auto& r) { return text_cell(r.trace, r.engine.process); }},
    {"rank", CellType::integer, Unit::none, "Rank of the worker, if recorded.", [](auto& r) { return r.rank; }},
    {"annotation", CellType::text, Unit::none, "Text of the range that marks it.",
     [](auto& r) { return text_cell(r.trace, r.it.name); }},
    {"source", CellType::text, Unit::none,
     "What marks it: annotation, range (NVTX), scopes, frames (Python), copies or graphs.",
     [](auto& r) { return name_of(r.engine.source); }},
    {"phase", CellType::text, Unit::none,
     "prefill (prompts only), decode (one token per request), mixed, verify (drafted tokens), draft, dummy (device "
     "work "
     "without requests), empty (no device work) or unknown.",
     [](auto& r) { return name_of(r.it.phase()); }},
    {"state", CellType::text, Unit::none,
     "steady, warm-up (the first of its kind, if it is slow or the only one), ramp-up, ramp-down; outside if there is "
     "no steady part.",
     [](auto& r) { return name_of(r.it.state); }},
    {"requests", CellType::integer, Unit::count, "Requests of the batch.", [](auto& r) { return r.it.batch.requests; }},
    {"prefill_requests", CellType::integer, Unit::count, "Of them, in their prompt.",
     [](auto& r) { return r.it.batch.prefill_requests; }},
    {"decode_requests", CellType::integer, Unit::count, "Of them, past it.",
     [](auto& r) { return r.it.batch.decode_requests; }},
    {"prefill_tokens", CellType::integer, Unit::count, "Prompt tokens computed.",
     [](auto& r) { return r.it.batch.prefill_tokens; }},
    {"decode_tokens", CellType::integer, Unit::count,
     "Tokens computed for requests past their prompt; of verify, with the drafted ones.",
     [](auto& r) { return r.it.batch.decode_tokens; }},
    {"kv_tokens", CellType::integer, Unit::count, "Tokens in the KV cache that the batch attends to.",
     [](auto& r) {
         auto &prefill = r.it.batch.prefill_kv, &decode = r.it.batch.decode_kv;
         return prefill || decode ? std::optional(prefill.value_or(0) + decode.value_or(0)) : std::nullopt;
     }},
    {"host_start_ns", CellType::integer, Unit::ns, "Start of the mark, relative to the window start.",
     [](auto& r) { return r.it.host_start - r.trace.zero(); }},
    {"host_ns", CellType::integer, Unit::ns, "Length of the mark: of the forward pass on the host.",
     [](auto& r) { return r.it.host; }},
    {"gpu_start_ns", CellType::integer, Unit::ns, "First start of its device work, relative to the window start.",
     [](auto& r) { return if_ran(r, r.it.gpu.start - r.trace.zero()); }},
    {"gpu_end_ns", CellType::integer, Unit::ns, "Last end of its device work.",
     [](auto& r) { return if_ran(r, r.it.gpu.end - r.trace.zero()); }},
    {"wall_ns", CellType::integer, Unit::ns,
     "From the last end of the iterations before to its own: what the step costs, and the time between two tokens of a "
     "request in it. Of the first, from its own start.",
     [](auto& r) { return if_ran(r, r.it.wall()); }},
    {"own_busy_ns", CellType::integer, Unit::ns, "Time with an op of its own in flight.",
     [](auto& r) { return if_ran(r, r.it.own_busy); }},
    {"kernel_sum_ns", CellType::integer, Unit::ns, "Sum of the durations of its kernels.",
     [](auto& r) { return if_ran(r, r.it.kernel_sum); }},
    {"idle_ns", CellType::integer, Unit::ns, "Part of wall_ns without any op on the device.",
     [](auto& r) { return if_ran(r, r.it.idle()); }},
    {"idle_before_ns", CellType::integer, Unit::ns, "Part of idle_ns before its first op; absent for the first.",
     [](auto& r) { return r.it.first ? std::nullopt : if_ran(r, r.it.idle_before); }},
    {"idle_graph_ns", CellType::integer, Unit::ns,
     "Part of idle_ns between two ops of one launched CUDA graph: no call of the host can shorten it.",
     [](auto& r) { return if_ran(r, r.it.idle_graph); }},
    {"idle_inside_ns", CellType::integer, Unit::ns, "The rest of idle_ns.",
     [](auto& r) { return if_ran(r, r.it.idle_inside); }},
    {"comm_ns", CellType::integer, Unit::ns, "Time in collectives.", [](auto& r) { return if_ran(r, r.it.comm); }},
    {"exposed_comm_ns", CellType::integer, Unit::ns, "Part of it in which no other kernel of any iteration runs.",
     [](auto& r) { return if_ran(r, r.it.exposed_comm); }},
    {"kernels", CellType::integer, Unit::count, "Kernels.", [](auto& r) { return r.it.kernels; }},
    {"copies", CellType::integer, Unit::count, "Copies.", [](auto& r) { return r.it.copies; }},
    {"fills", CellType::integer, Unit::count, "Fills.", [](auto& r) { return r.it.fills; }},
    {"layers", CellType::integer, Unit::count, "How often most of its kernels repeat; absent if they do not.",
     [](auto& r) { return r.it.layers > 0 ? std::optional(r.it.layers) : std::nullopt; }},
    {"graph_mode", CellType::text, Unit::none,
     "full (one CUDA graph has most of the work), piecewise, eager, or opaque (its graphs' work was not recorded).",
     [](auto& r) { return r.it.ran || r.it.graph_launches > 0 ? std::optional(name_of(r.it.mode)) : std::nullopt; }},
    {"graph_launches", CellType::integer, Unit::count, "Launches of CUDA graphs.",
     [](auto& r) { return r.it.graph_launches; }},
    {"graph_ops", CellType::integer, Unit::count, "Device ops of these launches.",
     [](auto& r) { return r.it.graph_ops; }},
    {"lead_ns", CellType::integer, Unit::ns, "From the mark to its first op: how far the host is ahead.",
     [](auto& r) { return if_ran(r, std::max<DurNs>(0, r.it.gpu.start - r.it.host_start)); }},
    {"host_schedule_ns", CellType::integer, Unit::ns,
     "Time of the engine's thread in scheduling; absent if not recorded.",
     [](auto& r) { return r.host.of(ServingPart::schedule); }},
    {"host_prepare_ns", CellType::integer, Unit::ns, "In the preparation of inputs.",
     [](auto& r) { return r.host.of(ServingPart::prepare); }},
    {"host_launch_ns", CellType::integer, Unit::ns, "In the forward pass.",
     [](auto& r) { return r.host.of(ServingPart::launch); }},
    {"host_sample_ns", CellType::integer, Unit::ns, "In sampling, with waits for the device in it.",
     [](auto& r) { return r.host.of(ServingPart::sample); }},
    {"host_wait_ns", CellType::integer, Unit::ns, "In calls that wait for the device: no cost by itself.",
     [](auto& r) { return r.host.wait; }},
    {"host_output_ns", CellType::integer, Unit::ns, "In processing results.",
     [](auto& r) { return r.host.of(ServingPart::output); }},
    {"slow", CellType::boolean, Unit::none,
     "Longer than 1.2 x the median of its phase and number of tokens (powers of two); absent outside the steady part.",
     [](auto& r) { return r.it.state == IterationState::steady ? std::optional(r.slow) : std::nullopt; }},
    {"why", CellType::text, Unit::none, "Where a slow one spends more time than the median.",
     [](auto& r) { return text_cell(std::string_view(r.why)); }},
});

// The iteration of median wall time among the steady ones of the same engine, phase and size.
using Bucket = std::tuple<std::size_t, ServingPhase, int>;

Bucket bucket_of(const Iteration& it) {
    int power = 0;
    for (std::int64_t tokens = it.batch.tokens.value_or(0); tokens > 1; tokens /= 2) ++power;
    return {it.engine, it.phase(), power};
}

std::map<Bucket, const Iteration*> medians_of(const std::vector<Iteration>& all) {
    std::map<Bucket, std::vector<const Iteration*>> steady;
    for (const Iteration& it : all)
        if (it.state == IterationState::steady && it.ran) steady[bucket_of(it)].push_back(&it);
    std::map<Bucket, const Iteration*> medians;
    for (auto& [bucket, of] : steady) {
        std::sort(of.begin(), of.end(), [](auto* a, auto* b) { return a->wall() < b->wall(); });
        medians[bucket] = of[(of.size() - 1) / 2];
    }
    return medians;
}

std::string why_slow(const Iteration& it, const Iteration& median) {
    struct Part {
        std::string_view what;
        DurNs more;
    } parts[] = {{"its own work", it.own_busy - median.own_busy},
                 {"idle before its first op", it.idle_before - median.idle_before},
                 {"idle between nodes of a graph", it.idle_graph - median.idle_graph},
                 {"idle between its ops", it.idle_inside - median.idle_inside}};
    auto most = std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) { return a.more < b.more; });
    std::string text = fmt::format("{} longer than the median", readable_duration(it.wall() - median.wall()));
    if (most->more > 0) text += fmt::format(": {} more {}", readable_duration(most->more), most->what);
    return text;
}

std::optional<std::int64_t> rank_of(const Trace& trace, StringId process) {
    const ProcessTable& processes = trace.tables().process;
    for (Row row = 0; row < processes.rows; ++row)
        if (processes.key.value_or(row, kNoString) == process && processes.rank.has(row)) return processes.rank[row];
    return std::nullopt;
}

Result<ResultTable> iterations_table(const Facts& facts) {
    const Iterations& found = facts.get<Iterations>();
    const EngineHost& host = facts.get<EngineHost>();
    ResultTable table("iterations", kIterationsColumns);
    table.handle_prefix = "it";
    table.wanted = {"iteration", "phase",       "requests", "prefill_tokens", "decode_tokens",
                    "wall_ns",   "own_busy_ns", "idle_ns",  "host_ns"};
    table.notes = found.notes;
    if (found.all.empty())
        table.notes.push_back(
            "No engine steps found: the recording is not of a server of language models, or nothing "
            "in it marks them.");
    std::map<Bucket, const Iteration*> medians = medians_of(found.all);
    for (std::size_t i = 0; i < found.all.size(); ++i) {
        const Iteration& it = found.all[i];
        auto median = medians.find(bucket_of(it));
        bool slow = it.ran && it.state == IterationState::steady && median != medians.end() &&
                    static_cast<double>(it.wall()) > 1.2 * static_cast<double>(median->second->wall());
        const Engine& engine = found.engines[it.engine];
        table.add(kIterationsColumns, {facts.trace(), it, engine, host.parts[i], rank_of(facts.trace(), engine.process),
                                       slow, slow ? why_slow(it, *median->second) : ""});
    }
    return table;
}

}  // namespace

const Analysis kIterations{"iterations",
                           "",
                           "Per engine step of a server of language models: phase, batch, wall time and idle time.",
                           kIterationsColumns,
                           iterations_table,
                           {.of_whole = true}};

}  // namespace gpuprof::tables
