#include "core/model/select_interval.h"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline model {
namespace {

using KeptRows = PodVector<Row>;

template <class Table>
constexpr bool kDeviceWork = std::is_same_v<Table, KernelTable> || std::is_same_v<Table, MemcpyTable> ||
                             std::is_same_v<Table, MemsetTable> || std::is_same_v<Table, DeviceRangeTable>;
template <class Table>
constexpr bool kSamples = std::is_same_v<Table, SampleTable> || std::is_same_v<Table, CpuSampleTable> ||
                          std::is_same_v<Table, StackSampleTable>;

// Ranges and Python functions by which analyze/knowledge/serving_names.cc knows the steps of an inference server. Its host runs
// ahead: the mark of a step often ends before the step's work begins, and says what that work is.
bool may_mark_engine_step(std::string_view name) {
    for (std::string_view mark :
         {"execute_", "step[", "decode[", "prefill[", "[Executor] ", "scheduler.", "gpu_model_runner: "})
        if (name.starts_with(mark)) return true;
    return contains_any(name,
                        {"v1/engine/core.py(", "managers/scheduler.py(", "/gpu_worker.py(", "/gpu_model_runner.py("});
}

class IntervalSelector {
public:
    IntervalSelector(const Tables& tables, const Links& links, const StringPool& strings, Interval part)
        : part_(part),
          calls_(tables.api_call),
          collectives_(tables.collective.rows > 0),
          nodes_(!tables.graph_node.op.none_present()),
          launches_(tables.api_call.rows) {
        find_marks(tables.range, strings);
        find_marks(tables.python_call, strings);
        note(tables.kernel, links.kernel_launch);
        note(tables.memcpy, links.memcpy_launch);
        note(tables.memset, links.memset_launch);
        std::sort(correlations_.begin(), correlations_.end());
        std::sort(named_.begin(), named_.end());
        std::sort(marked_launches_.begin(), marked_launches_.end());
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
        } else if constexpr (std::is_same_v<Table, RangeTable> || std::is_same_v<Table, PythonCallTable>) {
            return reaches_in(table, row) || marks_kept_work(table, row);
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
    void find_marks(const Table& table, const StringPool& strings) {
        marks_.resize(strings.size());
        std::vector<bool> seen(strings.size());
        for (Row row = 0; row < table.rows; ++row) {
            StringId name = table.name.value_or(row, kNoString);
            if (name == kNoString || seen[index_of(name)]) continue;
            seen[index_of(name)] = true;
            if (!may_mark_engine_step(strings[name])) continue;
            marks_[index_of(name)] = any_mark_ = true;
        }
    }
    template <class Table>
    bool marks_kept_work(const Table& table, Row row) const {
        StringId name = table.name.value_or(row, kNoString);
        if (!any_mark_ || name == kNoString || !marks_[index_of(name)]) return false;
        TimeNs start = table.start[row];
        std::pair from(table.thread.value_or(row, kNoString), start);
        auto launch = std::lower_bound(marked_launches_.begin(), marked_launches_.end(), from);
        return launch != marked_launches_.end() && launch->first == from.first &&
               launch->second <= start + table.dur[row];
    }
    void note_launch(Row call) {
        if (any_mark_ && !launches_[call])
            marked_launches_.emplace_back(calls_.thread.value_or(call, kNoString), calls_.start[call]);
        launches_[call] = true;
    }
    template <class Table>
    void note(const Table& table, const PodVector<Row>& launches) {
        for (Row row = 0; row < table.rows; ++row) {
            if (!starts_inside(table.start[row])) continue;
            last_end_ = std::max(last_end_, table.start[row] + table.dur[row]);
            if (launches[row] != kNoRow) note_launch(launches[row]);
            if (nodes_ && table.external_id.has(row)) named_.push_back(table.external_id[row]);
            if (collectives_ && table.correlation.has(row)) correlations_.push_back(table.correlation[row]);
        }
    }

    Interval part_;
    const ApiCallTable& calls_;
    TimeNs last_end_ = 0;
    bool collectives_;            // whether there are any; only they need correlations
    bool nodes_;                  // whether nodes of graphs name operators
    std::vector<bool> launches_;  // of calls: whether the submitted work is kept
    bool any_mark_ = false;
    std::vector<bool> marks_;  // of strings: it may mark a step of an inference server
    std::vector<std::pair<StringId, TimeNs>>
        marked_launches_;                   // thread and start of kept launches, sorted, if there are marks
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
    IntervalSelector cutter(trace.tables_, trace.links_, trace.strings_, part);
    trace.tables_.each_table([&](const TableSpec&, auto& table) { keep_rows(table, cutter); });
    trace.links_ = link_launches(trace.tables_, trace.strings_);
    trace.window_ = cutter.part();
    return trace;
}

Trace rebase_to_start(Trace given, Interval window) {
    given.window_ = given.full_window_ = window;
    Trace trace = rebase_to_start(std::move(given));
    std::vector<std::function<void()>> columns;
    std::size_t rows = 0;
    trace.tables_.each_table([&](const TableSpec&, auto& table) {
        rows += table.rows;
        table.each_column([&](const ColumnSpec&, auto& column) { columns.push_back([&] { column.narrow(); }); });
    });
    run_together(rows, columns);
    return trace;
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
