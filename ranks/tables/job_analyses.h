// The analyses of a job of many ranks, as analyze/tables/analysis_list.h has those of one recording, and what they share.
#pragma once

#include "analyze/facts/facts.h"
#include "analyze/tables/analysis.h"
#include "core/model/result_table.h"

#define GPUPROF_ANALYSES_OF_JOBS(ANALYSIS) \
    ANALYSIS(Ranks)                        \
    ANALYSIS(Hangs)                        \
    ANALYSIS(Stragglers)                   \
    ANALYSIS(JobSteps)                     \
    ANALYSIS(RankCollectives)              \
    ANALYSIS(Imbalance)                    \
    ANALYSIS(Pipeline)                     \
    ANALYSIS(Links)                        \
    ANALYSIS(Hosts)

namespace gpuprof::inline ranks {

#define GPUPROF_ANALYSIS_DECLARE(Name) extern const Analysis k##Name;
GPUPROF_ANALYSES_OF_JOBS(GPUPROF_ANALYSIS_DECLARE)
#undef GPUPROF_ANALYSIS_DECLARE

// Whether the recording has ranks; if not, the table says what to do.
inline bool has_ranks(const Facts& facts, ResultTable& table) {
    if (facts.trace().tables().rank.rows > 0) return true;
    table.notes.push_back("This needs the recordings of several ranks: gpu-profile ranks FOLDER.");
    return false;
}

}  // namespace gpuprof::ranks
