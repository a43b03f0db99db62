// What the decoder does once a process's rows are complete: it drops what is outside the recorded part of a run, aligns the
// clocks and counts what it skipped. Launches and kernels are compared for all importers in core/model/completeness.h.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "core/base/text/readable.h"
#include "core/format/bytes.h"
#include "core/schema/meta_keys.h"
#include "io/importers/spool/spool_import.h"

namespace gpuprof::inline importers {
namespace {

// The error of a device's clock in words: the range between its bounds.
std::string stated(const DeviceClock& clock) {
    DurNs moved = clock.move();
    std::string text =
        fmt::format("device {}: {}", clock.device,
                    moved == 0 ? "as recorded" : fmt::format("{} by {} ns", meta_key::kClockMoved, moved));
    if (!clock.min_error || !clock.max_error) return text + ", error not bounded on both sides";
    if (*clock.min_error > *clock.max_error)
        return text + fmt::format(", error up to {} ns: its clock drifts",
                                  span_between(*clock.max_error, *clock.min_error) / 2 + 1);
    return text + fmt::format(", error from {} to {} ns", span_between(moved, *clock.min_error),
                              span_between(moved, *clock.max_error));
}

}  // namespace

void SpoolDecoder::align_clocks() {
    if (std::optional<DurNs> offset = cupti_offset(clocks_)) move_cupti_times(batch_.tables, first_, *offset);
    if (DurNs step = clock_step(clocks_); step != 0)
        batch_.lose(Loss::clock_stepped, fmt::format("{}: by {} ns", process_, step));
    for (const DeviceClock& clock : device_clocks(batch_, first_)) {
        if (clock.move() != 0) move_device(batch_.tables, first_, clock);
        MetaTable& table = batch_.tables.meta;
        Row row = table.add();
        table.key.set(row, batch_.intern(meta_key::kDeviceClock));
        table.value.set(row, batch_.intern(stated(clock)));
    }
}

void SpoolDecoder::count_left_out() {
    MetaTable& table = batch_.tables.meta;
    for (const auto& [key, count] : left_out_) {
        Row row = table.add();
        table.key.set(row, batch_.intern(key));
        table.value.set(row, batch_.intern(std::to_string(count)));
    }
    if (whole_graphs_ > 0) batch_.lose(Loss::whole_graph, fmt::format("process {}", process_), whole_graphs_);
}

std::optional<Row> SpoolDecoder::call_of(std::uint32_t correlation) {
    const ApiCallTable& calls = batch_.tables.api_call;
    if (call_of_.empty())
        for (Row row = first_.api_call; row < calls.rows; ++row) call_of_.try_emplace(calls.correlation[row], row);
    auto call = call_of_.find(correlation);
    return call == call_of_.end() ? std::nullopt : std::optional<Row>(call->second);
}

// An allocation has no thread; the call that made it has.
void SpoolDecoder::name_allocator(Row event, std::uint32_t correlation) {
    if (std::optional<Row> call = call_of(correlation))
        batch_.tables.memory_event.thread.set(event, batch_.tables.api_call.thread[*call]);
}

namespace {

// Recording only a part of a run: the collector keeps CUPTI's kinds enabled for a while after the window has closed, so
// that work in flight is delivered. Rows outside every window are dropped here: kept is what was running while a window
// was open, and what was launched then.

// Drops rows from `first` on for which `belongs` returns false.
template <class Table, class Belongs>
void keep_rows(Table& table, Row first, Belongs&& belongs) {
    table.close();
    PodVector<Row> kept;
    for (Row row = 0; row < table.rows; ++row)
        if (row < first || belongs(row)) kept.push_back(row);
    if (kept.size() == table.rows) return;
    table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    table.rows = kept.size();
}

}  // namespace

bool SpoolDecoder::take_windows(std::string_view payload) {
    ByteCursor cursor(payload);
    while (cursor.left() > 0 && cursor.ok()) {
        auto opened = static_cast<TimeNs>(cursor.u64()), closed = static_cast<TimeNs>(cursor.u64());
        if (cursor.ok()) windows_[opened] = closed;
    }
    return cursor.ok();
}

// Whether a window was open at some time during the span.
bool SpoolDecoder::in_window(TimeNs start, DurNs dur) const {
    auto after = windows_.upper_bound(static_cast<TimeNs>(std::uint64_t(start) + std::uint64_t(dur)));
    if (after == windows_.begin()) return false;
    TimeNs closed = std::prev(after)->second;
    return closed == 0 || closed >= start;
}

void SpoolDecoder::leave_out_what_is_outside() {
    if (windows_.empty() && !only_windows_) return;
    Tables& tables = batch_.tables;
    std::unordered_set<std::int64_t> launched;
    auto within = [&](const auto& table) {
        return [&](Row row) { return in_window(table.start[row], table.dur[row]); };
    };
    keep_rows(tables.api_call, first_.api_call, [&](Row row) {
        bool kept = in_window(tables.api_call.start[row], tables.api_call.dur[row]);
        if (kept) launched.insert(tables.api_call.correlation[row]);
        return kept;
    });
    auto of_device = [&](auto& table, Row first) {
        keep_rows(table, first, [&](Row row) {
            if (launched.count(table.correlation[row]) != 0) return true;
            bool kept = in_window(table.start[row], table.dur[row]);
            if (kept && table.correlation.has(row))
                ++left_out_[meta_key::kCountedCalls];  // submitted outside the windows
            return kept;
        });
    };
    of_device(tables.kernel, first_.kernel);
    of_device(tables.memcpy, first_.memcpy);
    of_device(tables.memset, first_.memset);
    keep_rows(tables.sync, first_.sync, within(tables.sync));
    keep_rows(tables.overhead, first_.overhead, within(tables.overhead));
    // Annotations are not recorded while a window is closed, unless it was chosen afterwards.
    if (only_windows_) keep_rows(tables.range, first_.range, within(tables.range));
}

// What a process kept of its steps are its windows.
void SpoolDecoder::keep_only_steps() {
    if (!steps_.known()) return;
    only_windows_ = true;
    windows_ = steps_.windows();
    steps_.add_facts(batch_, pid_.empty() ? process_ : fmt::format("process {}", pid_));
    steps_.add_ranges(batch_, [this](std::uint32_t thread) { return thread_key(thread); });
}

}  // namespace gpuprof::importers
