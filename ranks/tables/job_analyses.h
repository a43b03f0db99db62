// The analyses of a job of many ranks, as analyze/tables/analysis_list.h has those of one recording.
#pragma once

#include "analyze/tables/analysis.h"

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

}  // namespace gpuprof::ranks
