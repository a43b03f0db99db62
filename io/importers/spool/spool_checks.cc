// What the decoder does once a process's rows are complete: it aligns the clocks and counts what it skipped. Launches
// and kernels are compared for all importers in core/model/completeness.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/readable.h"
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

void SpoolDecoder::settle_clocks() {
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

}  // namespace gpuprof::importers
