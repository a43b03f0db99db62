// A trace: the immutable tables of one or more recordings, joined and sorted, with the links between their rows.
// Created only by TraceBuilder::finish(). Every table with a start is sorted by (start, longest first); durations are
// not negative; every `thread` and `process` key has a row in its table.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/string_pool.h"
#include "core/model/build/links.h"
#include "core/model/completeness.h"
#include "core/model/interval.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {

// Where a trace came from, for the head of every report.
struct Origin {
    std::string file;            // as named by the user; "-" for standard input
    std::string importer;        // name of the importer that read it
    std::string tool;            // the recorder, e.g. "torch.profiler"; empty if unknown
    std::string work_tool = {};  // of several, those that recorded more than samples; empty: `tool`

    const std::string& recorder_of_work() const { return work_tool.empty() ? tool : work_tool; }
};

struct Batch;

class Trace {
public:
    const Tables& tables() const { return tables_; }
    // Shorthands for the tables that analyses read most.
    const KernelTable& kernel() const { return tables_.kernel; }
    const MemcpyTable& memcpy() const { return tables_.memcpy; }
    const MemsetTable& memset() const { return tables_.memset; }
    const ApiCallTable& api_call() const { return tables_.api_call; }
    const OpTable& op() const { return tables_.op; }
    const RangeTable& range() const { return tables_.range; }

    const Links& links() const { return links_; }
    // Of the whole recording, also for a part of it.
    const Completeness& completeness() const { return completeness_; }
    const Origin& origin() const { return origin_; }
    std::string_view text(StringId id) const { return strings_[id]; }
    const StringPool& strings() const { return strings_; }

    // First start to last end over every host and device event (metadata, flows and instants excluded).
    // Empty ({0, 0}) when there is no event.
    Interval window() const { return window_; }
    // Origin of displayed times: the start of the window; for a part (select_interval.h), that of the whole.
    TimeNs zero() const { return full_window_.start; }
    Interval full_window() const { return full_window_; }
    bool is_part() const { return window_.start != full_window_.start || window_.end != full_window_.end; }
    // The value of a `meta` row, or "".
    std::string_view meta(std::string_view key) const;

    // Drops the values of columns that are not read from now on.
    void drop(const ColumnSelection& unread);

private:
    friend class TraceBuilder;
    friend Trace select_interval(Trace whole, Interval part);
    friend Trace rebase_to_start(Trace trace);
    friend Trace rebase_to_start(Trace trace, Interval window);
    friend Batch rows_of(Trace trace);
    friend Trace copy_of(const Trace& trace);
    Tables tables_;
    StringPool strings_;
    Links links_;
    Completeness completeness_;
    Origin origin_;
    Interval window_, full_window_;
};

// A second trace with the same rows, strings and links, for two views of one recording.
Trace copy_of(const Trace& trace);

}  // namespace gpuprof::model
