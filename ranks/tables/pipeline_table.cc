// `pipeline`: the stages of a pipeline, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/tables/cells.h"
#include "core/base/text/rank_list.h"
#include "core/base/text/readable.h"
#include "ranks/price/stages.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

struct PipelineRow {
    std::uint32_t stage;
    std::string_view members;
    const StageTimes& times;
    double mean_compute, step_ns, theory;  // of all stages
};

constexpr auto kPipelineColumns = columns_of<PipelineRow>({
    {"stage", CellType::integer, Unit::none, "Number of the stage, from 0.", [](auto& r) { return r.stage; }},
    {"ranks", CellType::text, Unit::none, "Its ranks.", [](auto& r) { return text_cell(r.members); }},
    {"compute_ns", CellType::real, Unit::ns, "Compute in a step: median of its ranks, mean over the steps.",
     [](auto& r) { return r.times.compute_ns; }},
    {"over_mean", CellType::real, Unit::none, "That over the mean of all stages; 1 if they are even.",
     [](auto& r) { return ratio(r.times.compute_ns, r.mean_compute); }},
    {"wait_ns", CellType::real, Unit::ns,
     "Waiting of one of its ranks for the other end of a send or receive, per step.",
     [](auto& r) { return r.times.wait_ns; }},
    {"wait_pct", CellType::real, Unit::percent, "Share of the step: the part of the bubble that it waits through.",
     [](auto& r) { return percent(r.times.wait_ns, r.step_ns); }},
    {"transfer_ns", CellType::real, Unit::ns, "Sends and receives of one of its ranks, without waiting, per step.",
     [](auto& r) { return r.times.transfer_ns; }},
    {"theory_pct", CellType::real, Unit::percent,
     "Bubble of even stages without delays, (p - 1) / (m v + p - 1), of p stages, m micro-batches and v parts of the "
     "model on each stage.",
     [](auto& r) { return r.theory > 0 ? real(100 * r.theory) : kAbsent; }},
});

Result<ResultTable> pipeline_table(const Facts& facts) {
    ResultTable table("pipeline", kPipelineColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const JobStages& stages = facts.get<JobStages>();
    const StagePrice& price = facts.get<StagePrice>();
    if (price.stages.empty()) {
        table.notes.push_back(
            "No pipeline was found: no group, all of whose ranks are known, has sends both ways between neighbours.");
        return table;
    }
    std::vector<RankList> ranks(stages.count);
    for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank)
        if (stages.of_rank[rank] != kNone) ranks[stages.of_rank[rank]].push_back(job.ranks[rank].rank);
    double mean = price.mean_compute();
    double theory = stages.bubble();
    for (std::uint32_t stage = 0; stage < stages.count; ++stage) {
        std::sort(ranks[stage].begin(), ranks[stage].end());
        std::string members = format_ranks(ranks[stage]);
        table.add(kPipelineColumns, {stage, members, price.stages[stage], mean, price.step_ns, theory});
    }
    double gain = price.step_ns - price.even_ns;
    table.notes.push_back(
        gain > 0 ? fmt::format("With equal compute on all stages, a step would take {} instead of {} ({:.1f} % less).",
                               readable_duration(price.even_ns), readable_duration(price.step_ns),
                               100 * gain / price.step_ns)
                 : "Equal compute on all stages would not make a step shorter.");
    return table;
}

}  // namespace

const Analysis kPipeline{"pipeline",
                         "",
                         "The stages of a pipeline: compute, waiting, and how even they are.",
                         kPipelineColumns,
                         pipeline_table,
                         {.of_job = true}};

}  // namespace gpuprof::ranks
