// `phases`: what do the phases of a server of language models cost, and what limits each? One row per worker, phase and part of
// the recording: its steady part, if there is one, and all of it. Rows of one part add up to its wall time.
#include "analyze/facts/steps/serving_phases.h"

#include <fmt/format.h>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct PhasesRow {
    const Trace& trace;
    const PhaseTotals& of;
    const Engine& engine;
};

std::optional<DurNs> if_any(const PhasesRow& r, DurNs value) {
    return r.of.wall > 0 ? std::optional(value) : std::nullopt;
}
std::optional<double> per_second(const PhasesRow& r, const std::optional<std::int64_t>& tokens) {
    if (!tokens || r.of.wall <= 0) return std::nullopt;
    return 1e9 * static_cast<double>(*tokens) / static_cast<double>(r.of.wall);
}

constexpr auto kPhasesColumns = columns_of<PhasesRow>({
    {"process", CellType::text, Unit::none, "Key of the worker's process.",
     [](auto& r) { return text_cell(r.trace, r.engine.process); }},
    {"part", CellType::text, Unit::none, "steady: only iterations of the steady part; all: every iteration.",
     [](auto& r) { return std::string_view(r.of.steady ? "steady" : "all"); }},
    {"phase", CellType::text, Unit::none, "As in `iterations`.", [](auto& r) { return name_of(r.of.phase); }},
    {"count", CellType::integer, Unit::count, "Iterations.", [](auto& r) { return r.of.count; }},
    {"wall_ns", CellType::integer, Unit::ns, "Sum of their wall times.", [](auto& r) { return if_any(r, r.of.wall); }},
    {"wall_p50_ns", CellType::integer, Unit::ns, "Median wall time (nearest rank).",
     [](auto& r) { return if_any(r, r.of.p50); }},
    {"wall_p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank).",
     [](auto& r) { return if_any(r, r.of.p95); }},
    {"share_pct", CellType::real, Unit::percent, "wall_ns as a share of that of all phases of the part.",
     [](auto& r) { return r.of.wall > 0 ? std::optional(r.of.share) : std::nullopt; }},
    {"requests_p50", CellType::integer, Unit::count, "Median number of requests.",
     [](auto& r) { return r.of.requests_p50; }},
    {"tokens", CellType::integer, Unit::count, "Tokens scheduled; absent if unknown in one of the iterations.",
     [](auto& r) { return r.of.tokens; }},
    {"tokens_per_s", CellType::real, Unit::none,
     "Tokens scheduled per second of wall time; of verify, with drafted tokens that may be rejected.",
     [](auto& r) { return per_second(r, r.of.tokens); }},
    {"output_tokens", CellType::integer, Unit::count,
     "Tokens that the requests receive: one per request of a decode step; absent where that is not recorded.",
     [](auto& r) { return r.of.output_tokens; }},
    {"output_tokens_per_s", CellType::real, Unit::none, "The same per second of wall time.",
     [](auto& r) { return per_second(r, r.of.output_tokens); }},
    {"twice_low_tokens_per_s", CellType::real, Unit::none,
     "The least of what output_tokens_per_s would be with twice the requests, if the KV cache has room: only dense "
     "products, which memory bandwidth limits, and launches take the same time. Only of decode steps.",
     [](auto& r) {
         return r.of.tokens_per_s_of_twice ? std::optional(r.of.tokens_per_s_of_twice->first) : std::nullopt;
     }},
    {"twice_high_tokens_per_s", CellType::real, Unit::none,
     "The most of it: only attention that fills the device takes twice the time.",
     [](auto& r) {
         return r.of.tokens_per_s_of_twice ? std::optional(r.of.tokens_per_s_of_twice->second) : std::nullopt;
     }},
    {"own_busy_ns", CellType::integer, Unit::ns, "Sum of the times with an op of the iteration in flight.",
     [](auto& r) { return if_any(r, r.of.own_busy); }},
    {"busy_pct", CellType::real, Unit::percent, "own_busy_ns as a share of wall_ns.",
     [](auto& r) { return percent(r.of.own_busy, r.of.wall); }},
    {"idle_before_ns", CellType::integer, Unit::ns, "Idle time before the first ops: the host between two steps.",
     [](auto& r) { return if_any(r, r.of.part(PhasePart::host_between)); }},
    {"idle_graph_ns", CellType::integer, Unit::ns, "Idle time between the nodes of launched CUDA graphs.",
     [](auto& r) { return if_any(r, r.of.part(PhasePart::graph_gaps)); }},
    {"idle_inside_ns", CellType::integer, Unit::ns,
     "The other idle time between ops: launches. Without waits for work before the recording.",
     [](auto& r) { return if_any(r, r.of.part(PhasePart::host_inside)); }},
    {"exposed_comm_p50_ns", CellType::integer, Unit::ns, "Median time in collectives that no other kernel overlaps.",
     [](auto& r) { return r.of.exposed_comm_p50; }},
    {"kernels", CellType::real, Unit::count, "Kernels per iteration.", [](auto& r) { return r.of.kernels; }},
    {"limit_flop_per_byte", CellType::real, Unit::flop_per_byte,
     "Most that dense products of 16-bit weights can do per byte of weights: the tokens of the largest iteration. "
     "Below "
     "the device's ratio of peaks they are limited by memory bandwidth.",
     [](auto& r) { return r.of.intensity; }},
    {"verdict", CellType::text, Unit::none,
     "The largest part of the wall time: host between steps, host inside, graph node gaps, memory bandwidth, compute, "
     "communication, underfilled, copies or unknown.",
     [](auto& r) { return r.of.wall > 0 ? std::optional(name_of(r.of.largest())) : std::nullopt; }},
    {"verdict_pct", CellType::real, Unit::percent, "That part's share of wall_ns.",
     [](auto& r) { return percent(r.of.part(r.of.largest()), r.of.wall); }},
});

Result<ResultTable> phases_table(const Facts& facts) {
    const ServingPhases& phases = facts.get<ServingPhases>();
    const Iterations& iterations = facts.get<Iterations>();
    ResultTable table("phases", kPhasesColumns);
    table.handle_prefix = "ph";
    table.wanted = {"part", "phase", "count", "wall_p50_ns", "share_pct", "tokens_per_s", "busy_pct", "verdict"};
    bool steady = false, prompts = false;
    DurNs cut = 0;
    for (const PhaseTotals& of : phases.totals) {
        steady = steady || of.steady;
        if (!of.steady) cut += of.cut;
        prompts = prompts || of.phase == ServingPhase::prefill || of.phase == ServingPhase::mixed;
        table.add(kPhasesColumns, {facts.trace(), of, iterations.engines[of.engine]});
    }
    if (phases.totals.empty())
        table.notes.push_back(
            "No engine steps found: the recording is not of a server of language models, or nothing "
            "in it marks them.");
    else if (!steady)
        table.notes.push_back(fmt::format("No steady state: {}; everything is measured over all of them.",
                                          readable_count(iterations.all.size(), "iteration")));
    if (cut > 0)
        table.notes.push_back(
            fmt::format("In the first iteration the host waits {} for work that began before the "
                        "recording: whether the GPU was idle then is unknown.",
                        readable_duration(cut)));
    if (prompts)
        table.notes.push_back(
            "Which prompts end in a step is not recorded, so output tokens of prefill and mixed steps "
            "are unknown; so are time to first token and queueing, without a client's file.");
    return table;
}

}  // namespace

const Analysis kPhases{"phases",
                       "",
                       "Per phase of a server of language models: wall time, tokens per second, idle time and limit.",
                       kPhasesColumns,
                       phases_table,
                       {.of_whole = true}};

}  // namespace gpuprof::tables
