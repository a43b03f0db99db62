// `idle`: the idle time of each device by cause. The causes of a device sum to its idle_ns exactly, whatever gap_min_ns
// is. One gap may have parts with different causes; count is the number of gaps with at least one part of the cause.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/facts/host/stack_samples.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/idle/idle_cpu_waits.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct IdleRow {
    const DeviceIdle& device;
    IdleCause cause;
    const CauseTotal& total;
    DurNs idle;
    std::string python;
};

constexpr auto kIdleColumns = columns_of<IdleRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device.device; }},
    {"cause", CellType::text, Unit::none, "Activity of the submitting host thread while the device was idle.",
     [](auto& r) { return name_of(r.cause); }},
    {"total_ns", CellType::integer, Unit::ns, "Idle time with this cause.", [](auto& r) { return r.total.total; }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of the device's idle time.",
     [](auto& r) { return percent(r.total.total, r.idle); }},
    {"count", CellType::integer, Unit::count, "Number of gaps with a part of this cause.",
     [](auto& r) { return r.total.count; }},
    {"python", CellType::text, Unit::none,
     "Python or native function with most samples of the host thread; without samples, the Python function with most "
     "recorded time; absent without either.",
     [](auto& r) { return text_cell(r.python); }},
    {"drained_ns", CellType::integer, Unit::ns,
     "Part of total_ns in gaps that began while the host waited for the device, so the queue ran empty.",
     [](auto& r) { return r.device.drained[static_cast<std::size_t>(r.cause)]; }},
});

Result<ResultTable> idle_table(const Facts& facts) {
    ResultTable table("idle", kIdleColumns);
    table.handle_prefix = "idle";
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) {
        DurNs idle = 0;
        for (const CauseTotal& total : device.causes) idle += total.total;
        for (IdleCause cause : causes_of(device)) {
            const CauseTotal& total = device.causes[static_cast<std::size_t>(cause)];
            table.add(kIdleColumns,
                      {device, cause, total, idle, facts.get<IdlePython>().of(device.device, cause).sentence()});
            if (std::optional<OsCallTime> call = facts.get<IdleOsCalls>().top(device, cause))
                table.notes.push_back(fmt::format("{}: host threads spent {} of {} in {}.", name_of(cause),
                                                  readable_duration(call->ns), readable_duration(total.total),
                                                  call->text(facts.trace())));
            if (std::optional<LaunchPlaceTime> launch = facts.get<IdleLaunches>().top(device, cause))
                table.notes.push_back(fmt::format("{}: {} of {} ended with a launch in {}.", name_of(cause),
                                                  readable_duration(launch->ns), readable_duration(total.total),
                                                  launch->place));
            if (std::optional<DurNs> wait = facts.get<IdleCpuWaits>().of(device, cause))
                table.notes.push_back(fmt::format("{}: host threads were preempted and waited for a CPU for {} of {}.",
                                                  name_of(cause), readable_duration(*wait),
                                                  readable_duration(total.total)));
        }
    }
    return table;
}

}  // namespace

const Analysis kIdle{"idle",       "",         "Idle time of each device by cause; the causes sum to idle_ns exactly.",
                     kIdleColumns, idle_table, {.about_idle = true}};

}  // namespace gpuprof::tables
