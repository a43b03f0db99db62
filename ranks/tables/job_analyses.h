// The analyses of a job of many ranks, as analyze/tables/analysis_list.h has those of one recording, and what they share.
#pragma once

#include "analyze/facts/facts.h"
#include "analyze/tables/analysis.h"
#include "core/model/result_table.h"

#define GPUPROF_ANALYSES_OF_JOBS(GROUP, ANALYSIS)                                                         \
    GROUP("Jobs of many ranks",                                                                           \
          "`ranks` has every rank, `stragglers` only those that others wait for, with the cause and the " \
          "cost; `imbalance` says how evenly the work is shared. `gpu-profile ranks` shows them.")        \
    ANALYSIS(Ranks)                                                                                       \
    ANALYSIS(Stragglers)                                                                                  \
    ANALYSIS(Imbalance)                                                                                   \
    ANALYSIS(JobSteps)                                                                                    \
    ANALYSIS(RankCollectives)                                                                             \
    ANALYSIS(Pipeline)                                                                                    \
    ANALYSIS(Links)                                                                                       \
    ANALYSIS(Hosts)                                                                                       \
    ANALYSIS(Hangs)

namespace gpuprof::inline ranks {

#define GPUPROF_ANALYSIS_DECLARE(Name) extern const Analysis k##Name;
#define GPUPROF_NO_GROUP_OF_JOBS(heading, doc)
GPUPROF_ANALYSES_OF_JOBS(GPUPROF_NO_GROUP_OF_JOBS, GPUPROF_ANALYSIS_DECLARE)
#undef GPUPROF_NO_GROUP_OF_JOBS
#undef GPUPROF_ANALYSIS_DECLARE

// Whether the recording has ranks; if not, the table says what to do.
inline bool has_ranks(const Facts& facts, ResultTable& table) {
    if (facts.trace().tables().rank.rows > 0) return true;
    table.notes.push_back("This needs the recordings of several ranks: gpu-profile ranks FOLDER.");
    return false;
}

}  // namespace gpuprof::ranks
