// What the viewer shows of a job: its summaries, the recordings of its ranks, and their timelines on the job's common clock.
#pragma once

#include <string>
#include <vector>

#include "cli/view/content.h"
#include "core/base/result.h"
#include "core/base/text/rank_list.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"
#include "present/view/document.h"

namespace gpuprof::inline cli {

// Ranks as one timeline: at most these fit on a screen.
inline constexpr std::size_t kMostTimelines = 16;

// `job`: the summaries, which name the files. `given`: what the user named. An error if a file is not there or elsewhere (NamedFiles), or the clock
// of a rank cannot be compared with the others'.
Result<Trace> aligned_timeline(const Trace& job, const RankList& ranks, const std::vector<std::string>& given,
                               const ReadLimits& limits);

// The page of a job. It has the timelines of all ranks whose clocks can be compared, unless they are too many or too large.
Result<ViewContent> job_content(Trace job, const std::vector<std::string>& given, const ReadLimits& limits,
                                const StageReport& on_stage);

}  // namespace gpuprof::cli
