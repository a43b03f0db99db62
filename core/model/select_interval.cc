#include "core/model/select_interval.h"

#include <algorithm>
#include <vector>

namespace gpuprof::inline model {
namespace {

using KeptRows = PodVector<Row>;

template <class Table>
constexpr bool kDeviceWork = std::is_same_v<Table, KernelTable> || std::is_same_v<Table, MemcpyTable> ||
                             std::is_same_v<Table, MemsetTable> || std::is_same_v<Table, DeviceRangeTable>;
template <class Table>
constexpr bool kSamples = std::is_same_v<Table, SampleTable> || std::is_same_v<Table, CpuSampleTable> ||
                          std::is_same_v<Table, StackSampleTable>;

class IntervalSelector {
public:
    IntervalSelector(const Tables& tables, const Links& links, Interval part)
        : part_(part),
          collectives_(tables.collective.rows > 0),
          nodes_(!tables.graph_node.op.none_present()),
          launches_(tables.api_call.rows) {
        note(tables.kernel, links.kernel_launch);
        note(tables.memcpy, links.memcpy_launch);
        note(tables.memset, links.memset_launch);
        std::sort(correlations_.begin(), correlations_.end());
        std::sort(named_.begin(), named_.end());
    }
    Interval part() const { return {part_.start, std::max(part_.end, last_end_)}; }

    template <class Table>
    bool keeps(const Table& table, Row row) const {
        if constexpr (kDeviceWork<Table>) {
            return starts_inside(table.start[row]);
        } else if constexpr (std::is_same_v<Table, ApiCallTable>) {
            return reaches_in(table, row) || launches_[row];
        } else if constexpr (std::is_same_v<Table, OpTable>) {
            bool of_graph =
                table.dur[row] == 0 && table.external_id.has(row);  // takes no time, at the launch (graph_captures.h)
            return reaches_in(table, row) ||
                   (of_graph && std::binary_search(named_.begin(), named_.end(), table.external_id[row]));
        } else if constexpr (std::is_same_v<Table, CollectiveTable>) {
            return !table.correlation.has(row) ||
                   std::binary_search(correlations_.begin(), correlations_.end(), table.correlation[row]);
        } else if constexpr (kSamples<Table>) {
            return starts_inside(table.time[row]);
        } else if constexpr (std::is_same_v<Table, MemoryEventTable>) {
            return table.time[row] < part_.end;  // memory allocated before stays live
        } else if constexpr (requires { table.start, table.dur; }) {
            return reaches_in(table, row);
        } else {
            return true;
        }
    }

private:
    bool starts_inside(TimeNs time) const { return time >= part_.start && time < part_.end; }
    template <class Table>
    bool reaches_in(const Table& table, Row row) const {
        return table.start[row] < part_.end && table.start[row] + table.dur[row] >= part_.start;
    }
    template <class Table>
    void note(const Table& table, const PodVector<Row>& launches) {
        for (Row row = 0; row < table.rows; ++row) {
            if (!starts_inside(table.start[row])) continue;
            last_end_ = std::max(last_end_, table.start[row] + table.dur[row]);
            if (launches[row] != kNoRow) launches_[launches[row]] = true;
            if (nodes_ && table.external_id.has(row)) named_.push_back(table.external_id[row]);
            if (collectives_ && table.correlation.has(row)) correlations_.push_back(table.correlation[row]);
        }
    }

    Interval part_;
    TimeNs last_end_ = 0;
    bool collectives_;                      // whether there are any; only they need correlations
    bool nodes_;                            // whether nodes of graphs name operators
    std::vector<bool> launches_;            // of calls: whether the submitted work is kept
    PodVector<std::int64_t> correlations_;  // of kept work, sorted
    PodVector<std::int64_t> named_;         // external ids of kept work, sorted
};

template <class Table>
void keep_rows(Table& table, const IntervalSelector& cutter) {
    KeptRows kept;
    for (Row row = 0; row < table.rows; ++row)
        if (cutter.keeps(table, row)) kept.push_back(row);
    if (kept.size() == table.rows) return;
    table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    table.rows = kept.size();
}

}  // namespace

Trace select_interval(Trace whole, Interval part) {
    Trace trace = std::move(whole);
    IntervalSelector cutter(trace.tables_, trace.links_, part);
    trace.tables_.each_table([&](const TableSpec&, auto& table) { keep_rows(table, cutter); });
    trace.links_ = link_launches(trace.tables_, trace.strings_);
    trace.window_ = cutter.part();
    return trace;
}

Trace rebase_to_start(Trace given, Interval window) {
    Trace trace = std::move(given);
    trace.window_ = trace.full_window_ = window;
    return rebase_to_start(std::move(trace));
}

Trace rebase_to_start(Trace given) {
    Trace trace = std::move(given);
    TimeNs zero = trace.zero();
    if (zero == 0) return trace;
    shift_times(trace.tables_, -zero);
    trace.window_ = {trace.window_.start - zero, trace.window_.end - zero};
    trace.full_window_ = {0, trace.full_window_.end - zero};
    return trace;
}

}  // namespace gpuprof::model
