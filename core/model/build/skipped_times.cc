#include "core/model/build/skipped_times.h"

#include <algorithm>
#include <cstdlib>

namespace gpuprof::inline model {
namespace {

// Six days: spans closer than this to each other are plausible together, or implausible together.
constexpr DurNs kClose = DurNs{1} << 49;

void widen(std::optional<Interval>& window, Interval by) {
    window = window ? Interval{std::min(window->start, by.start), std::max(window->end, by.end)} : by;
}

}  // namespace

template <class Table>
bool SkippedTimes::take_span(const Table& table, Row row) {
    if (!table.start.has(row) || !table.dur.has(row)) return false;
    TimeNs start = table.start[row];
    DurNs dur = table.dur[row];
    if (!in_range(start) || dur < 0 || dur >= kClose) return false;
    if (spans_ && (start < spans_->end - kClose || start + dur > spans_->start + kClose)) return false;
    widen(spans_, {start, start + dur});
    ++span_count_;
    return true;
}

void SkippedTimes::take(Tables& tables, const ColumnSelection& selected) {
    if (selected.has_all()) return;
    const MemoryEventTable& memory = tables.memory_event;
    for (Row row = 0; row < memory.rows && !selected.has(MemoryEventTable::spec()); ++row)
        if (memory.time.has(row) && in_range(memory.time[row])) widen(moments_, {memory.time[row], memory.time[row]});
    tables.each_table([&](const TableSpec& spec, auto& table) {
        if (table.rows == 0 || selected.has(spec)) return;
        PodVector<Row> kept;
        using Table = std::remove_cvref_t<decltype(table)>;
        if constexpr (kHasSpan<Table> && !kOfScheduler<Table>)  // as in TraceBuilder::finish
            for (Row row = 0; row < table.rows; ++row)
                if (!take_span(table, row)) kept.push_back(row);
        if (kept.empty()) return table.clear();
        table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
        table.rows = kept.size();
    });
}

void SkippedTimes::shift(DurNs by) {
    for (std::optional<Interval>* window : {&spans_, &moments_})
        if (*window) *window = Interval{span_between(-by, (*window)->start), span_between(-by, (*window)->end)};
}

}  // namespace gpuprof::model
