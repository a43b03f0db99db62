// Every analysis of a trace and its first answer as the JSON of `report`, and the picture of when devices were busy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/analyze/facts/facts.h"
#include "core/base/result.h"

namespace gpuprof {

// Tables have at most this many rows in it; `row_count` says how many there are.
inline constexpr std::int64_t kReportRows = 2000;

struct AnswerJson {
    std::string report;                 // the envelope of docs/reference/commands/report.md
    std::string pictures;               // {"slices", "devices": [{"device", "busy": [0..1, ...]}]}
    std::optional<Interval> part = {};  // what the answer is about, when that is not everything
};

// `facts` is of the whole trace; like `report`, the answer is about the part with most work where a start-up was recorded too.
Result<AnswerJson> answer_json(const Facts& facts, std::string_view version);

}  // namespace gpuprof
