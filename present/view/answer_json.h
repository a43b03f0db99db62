// Every analysis of a trace and its first answer as the JSON of `report`, and the busy strip of each device.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/format/column_encoder.h"
#include "core/model/interval.h"
#include "core/model/result_table.h"
#include "present/view/critical_path_lanes.h"
#include "present/view/job_pages.h"
#include "present/view/kernel_pages.h"

namespace gpuprof::inline view {

// Tables of the report that have more rows than it contains: any of their rows, in chunks. A table with a row per event
// is several times as large as the events, so nothing is stored: the analysis runs again when the first chunk of its
// table is wanted, and the result of one analysis is kept at a time.
struct LongTable {
    std::string_view name;
    std::size_t rows = 0;
};

// Those of `tables` with more than `limit` rows, unless all their rows are shown anyway.
std::vector<LongTable> long_tables(std::span<const ResultTable> tables, std::size_t limit);

class LongTableRows {
public:
    // `trace` must outlive it; `part`: of the trace, that the report covers; absent: all of it.
    LongTableRows(const Trace& trace, Options options, std::optional<Interval> part);

    // Rows [first, first + count) as a payload of the capture format, with the table's name and columns; a boolean is
    // 0 or 1. Empty if the table has fewer rows. Thread-safe.
    std::string payload(const LongTable& table, std::size_t first, std::size_t count, EncodingGoal goal);

private:
    std::shared_ptr<const ResultTable> table(std::string_view name);

    const Trace& trace_;
    Options options_;
    std::optional<Interval> part_;
    std::mutex mutex_;
    std::optional<Trace> trace_of_part_;
    std::unique_ptr<Facts> facts_;
    std::shared_ptr<const ResultTable> latest_;
};

// Maximum rows per table in the report; `row_count` has the total.
inline constexpr std::int64_t kReportRows = 2000;

struct AnswerJson {
    std::string report;       // the envelope of docs/reference/commands/report.md
    std::string busy_shares;  // {"slices", "devices": [{"device", "busy": [0..1, ...]}]}
    KernelPages kernels;
    ViewPath path;                       // empty if the replay abstains
    JobPages job;                        // of a recording of summaries of ranks
    std::vector<LongTable> long_tables;  // with rows that the report does not have
    std::optional<Interval> part = {};   // that the answer covers, from time zero; absent: the whole recording
};

// `facts` is of the whole trace, with the row limit kReportRows. Like `report`, the answer covers the part with the most work if a start-up was
// recorded too.
// `origin`: where time zero of the trace was on the clock of the recording. `on_known` gets the verdict and the findings as sentences before the
// tables are made, which takes longest.
Result<AnswerJson> answer_json(const Facts& facts, std::string_view version, TimeNs origin, StepDetail detail,
                               const std::function<void(std::vector<std::string>)>& on_known);

}  // namespace gpuprof::view
