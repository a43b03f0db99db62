// Every analysis of a trace and its first answer as the JSON of `report`, and the busy strip of each device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "present/view/critical_path_lanes.h"
#include "present/view/job_pages.h"
#include "present/view/kernel_pages.h"
#include "present/view/long_tables.h"

namespace gpuprof::inline view {

// Maximum rows per table in the report; `row_count` has the total.
inline constexpr std::int64_t kReportRows = 2000;

struct AnswerJson {
    std::string report;       // the envelope of docs/reference/commands/report.md
    std::string busy_shares;  // {"slices", "devices": [{"device", "busy": [0..1, ...]}]}
    KernelPages kernels;
    ViewPath path;                       // empty if the replay abstains
    JobPages job;                        // of a recording of summaries of ranks
    std::vector<LongTable> long_tables;  // with rows that the report does not have
    std::optional<Interval> part = {};   // the part that the answer covers, if not the whole recording
};

// `facts` is of the whole trace; of its options, the row limit does not count. Like `report`, the answer covers the part with the most work if a start-up was
// recorded too.
Result<AnswerJson> answer_json(const Facts& facts, std::string_view version, StepDetail detail = StepDetail::slowest);

}  // namespace gpuprof::view
