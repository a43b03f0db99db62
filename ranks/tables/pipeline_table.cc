// `pipeline`: the stages of a pipeline, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/tables/cells.h"
#include "core/base/text/rank_list.h"
#include "core/base/text/readable.h"
#include "ranks/price/stages.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/tables/rank_row_cells.h"

namespace gpuprof::inline ranks {
namespace {

constexpr ResultColumn kPipelineColumns[] = {
    {"stage", CellType::integer, Unit::none, "Number of the stage, from 0."},
    {"ranks", CellType::text, Unit::none, "Its ranks."},
    {"compute_ns", CellType::real, Unit::ns, "Compute in a step: median of its ranks, mean over the steps."},
    {"over_mean", CellType::real, Unit::none, "That over the mean of all stages; 1 if they are even."},
    {"wait_ns", CellType::real, Unit::ns,
     "Waiting of one of its ranks for the other end of a send or receive, per step."},
    {"wait_pct", CellType::real, Unit::percent, "Share of the step: the part of the bubble that it waits through."},
    {"transfer_ns", CellType::real, Unit::ns, "Sends and receives of one of its ranks, without waiting, per step."},
    {"theory_pct", CellType::real, Unit::percent,
     "Bubble of even stages without delays, (p - 1) / (m v + p - 1), of p stages, m micro-batches and v parts of the "
     "model on each stage."},
};

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
        const StageTimes& times = price.stages[stage];
        std::sort(ranks[stage].begin(), ranks[stage].end());
        std::string members = format_ranks(ranks[stage]);
        table.add_row({integer(stage), text_cell(members), real(times.compute_ns), ratio(times.compute_ns, mean),
                       real(times.wait_ns), percent(times.wait_ns, price.step_ns), real(times.transfer_ns),
                       theory > 0 ? real(100 * theory) : kAbsent});
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
