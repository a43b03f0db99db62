#include "io/importers/spool/spool_clock.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace gpuprof::inline importers {
namespace {

constexpr DurNs kMinReportedShift = 1'000'000;

template <class Columns>
void move_rows(Columns& column, Row first, std::size_t rows, DurNs by) {
    for (Row row = first; row < rows; ++row)
        if (column.has(row))
            column.change(
                row, static_cast<TimeNs>(static_cast<std::uint64_t>(column[row]) + static_cast<std::uint64_t>(by)));
}

// A damaged file may have any numbers; they wrap around, as in span_between.
TimeNs end_of(TimeNs start, DurNs dur) {
    return static_cast<TimeNs>(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(dur));
}

class Bounds {
public:
    Bounds(const Batch& batch, const SpoolRows& first) : batch_(batch), first_(first) {
        const ApiCallTable& calls = batch.tables.api_call;
        for (Row row = first.api_call; row < calls.rows; ++row) calls_.try_emplace(calls.correlation[row], row);
    }
    std::vector<DeviceClock> find() {
        const Tables& tables = batch_.tables;
        take(tables.kernel, first_.kernel);
        take(tables.memcpy, first_.memcpy);
        take(tables.memset, first_.memset);
        bound_by_waits();
        std::vector<DeviceClock> found;
        for (const auto& [device, error] : errors_) found.push_back({device, error.min_error(), error.max_error()});
        return found;
    }

private:
    struct Submitted {
        TimeNs called, done;  // end of the call, end of the work
        std::int32_t device;
    };
    template <class Table>
    void take(const Table& table, Row first) {
        const ApiCallTable& calls = batch_.tables.api_call;
        for (Row row = first; row < table.rows; ++row) {
            auto call = calls_.find(table.correlation[row]);
            if (call == calls_.end() || table.start[row] == 0) continue;
            ClockError& error = errors_[table.device[row]];
            TimeNs begun = calls.start[call->second], returned = end_of(begun, calls.dur[call->second]);
            TimeNs end = end_of(table.start[row], table.dur[row]);
            error.at_least(span_between(table.start[row], begun));
            if constexpr (std::is_same_v<Table, MemcpyTable>)
                if (returns_when_copied(batch_.strings[calls.name[call->second]],
                                        batch_.strings[table.kind.value_or(row, kNoString)]))
                    error.at_most(span_between(end, returned));
            submitted_.push_back({returned, end, table.device[row]});
        }
    }
    // All work whose call returned before a device synchronisation started was done when the synchronisation returned.
    void bound_by_waits() {
        const ApiCallTable& calls = batch_.tables.api_call;
        std::vector<Row> waits;
        for (Row row = first_.api_call; row < calls.rows; ++row)
            if (waits_for_device(batch_.strings[calls.name[row]])) waits.push_back(row);
        std::sort(waits.begin(), waits.end(), [&](Row a, Row b) { return calls.start[a] < calls.start[b]; });
        std::sort(submitted_.begin(), submitted_.end(),
                  [](const Submitted& a, const Submitted& b) { return a.called < b.called; });
        if (errors_.size() != 1) return;  // the device of a synchronisation is unknown
        TimeNs latest = 0;
        std::size_t next = 0;
        for (Row wait : waits) {
            for (; next < submitted_.size() && submitted_[next].called <= calls.start[wait]; ++next)
                latest = std::max(latest, submitted_[next].done);
            if (latest != 0)
                errors_.begin()->second.at_most(span_between(latest, end_of(calls.start[wait], calls.dur[wait])));
        }
    }

    const Batch& batch_;
    const SpoolRows& first_;
    std::unordered_map<std::int64_t, Row> calls_;
    std::map<std::int32_t, ClockError> errors_;  // by device
    std::vector<Submitted> submitted_;
};

template <class Table>
void move_table(Table& table, Row first, std::int32_t device, DurNs by) {
    for (Row row = first; row < table.rows; ++row)
        if (table.device[row] == device && table.start[row] != 0) table.start.change(row, end_of(table.start[row], by));
}

}  // namespace

std::optional<DurNs> cupti_offset(const std::vector<SpoolClock>& clocks) {
    std::vector<DurNs> offsets;
    for (const SpoolClock& clock : clocks)
        if (clock.device != 0)
            offsets.push_back(static_cast<DurNs>(static_cast<std::uint64_t>(clock.realtime) -
                                                 static_cast<std::uint64_t>(clock.device)));
    if (offsets.empty()) return std::nullopt;
    auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
    std::nth_element(offsets.begin(), middle, offsets.end());
    if (*middle > -kMinReportedShift && *middle < kMinReportedShift) return std::nullopt;
    return *middle;
}

void move_cupti_times(Tables& tables, const SpoolRows& first, DurNs by) {
    move_rows(tables.kernel.start, first.kernel, tables.kernel.rows, by);
    move_rows(tables.memcpy.start, first.memcpy, tables.memcpy.rows, by);
    move_rows(tables.memset.start, first.memset, tables.memset.rows, by);
    move_rows(tables.api_call.start, first.api_call, tables.api_call.rows, by);
    move_rows(tables.sync.start, first.sync, tables.sync.rows, by);
    move_rows(tables.overhead.start, first.overhead, tables.overhead.rows, by);
    move_rows(tables.memory_event.time, first.memory_event, tables.memory_event.rows, by);
}

DurNs clock_step(const std::vector<SpoolClock>& clocks) {
    DurNs stepped = 0;
    for (std::size_t i = 1; i < clocks.size(); ++i) {
        auto real = static_cast<std::uint64_t>(clocks[i].realtime) - static_cast<std::uint64_t>(clocks[i - 1].realtime);
        auto steady =
            static_cast<std::uint64_t>(clocks[i].monotonic) - static_cast<std::uint64_t>(clocks[i - 1].monotonic);
        auto step = static_cast<DurNs>(real - steady);
        if (step <= -kMinReportedShift || step >= kMinReportedShift)
            stepped = static_cast<DurNs>(static_cast<std::uint64_t>(stepped) + static_cast<std::uint64_t>(step));
    }
    return stepped;
}

DurNs DeviceClock::move() const {
    if (min_error && max_error && *min_error > *max_error) return *min_error / 2 + *max_error / 2;
    if (min_error && *min_error > 0) return *min_error;
    return max_error && *max_error < 0 ? *max_error : 0;
}

std::vector<DeviceClock> device_clocks(const Batch& batch, const SpoolRows& first) {
    return Bounds(batch, first).find();
}

void move_device(Tables& tables, const SpoolRows& first, const DeviceClock& clock) {
    move_table(tables.kernel, first.kernel, clock.device, clock.move());
    move_table(tables.memcpy, first.memcpy, clock.device, clock.move());
    move_table(tables.memset, first.memset, clock.device, clock.move());
}

}  // namespace gpuprof::importers
