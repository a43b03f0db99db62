// `idle`: the idle time of each device by cause. The causes of a device sum to its idle_ns exactly, whatever gap_min_ns is.
// One gap may have parts with different causes; count is the number of gaps with a part of the cause.
#include <algorithm>
#include <vector>

#include "core/analyze/analysis_list.h"
#include "core/analyze/cells.h"
#include "core/analyze/idle_cause.h"
#include "core/analyze/stack_samples.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"cause", CellType::text, Unit::none, "What the submitting host thread did while the device was idle."},
    {"total_ns", CellType::integer, Unit::ns, "Idle time with this cause."},
    {"share_pct", CellType::real, Unit::percent, "total_ns of the device's idle time."},
    {"count", CellType::integer, Unit::count, "Gaps with a part of this cause."},
    {"python", CellType::text, Unit::none,
     "The function that most samples of the host thread were in, of Python or of native code; absent without samples."},
};

Result<ResultTable> run(const Study& study) {
    ResultTable table("idle", kColumns);
    table.handle_prefix = "idle";
    for (const DeviceIdle& device : study.gaps().devices) {
        DurNs idle = 0;
        std::vector<std::size_t> order;
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            idle += device.causes[cause].total;
            if (device.causes[cause].total > 0) order.push_back(cause);
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return device.causes[a].total > device.causes[b].total; });
        for (std::size_t cause : order) {
            const CauseTotal& total = device.causes[cause];
            const FunctionCounts& python = study.idle_python().of(device.device, static_cast<IdleCause>(cause));
            table.add_row({integer(device.device), name_of(static_cast<IdleCause>(cause)), integer(total.total),
                           percent(total.total, idle), integer(total.count), text_cell(python.sentence())});
        }
    }
    return table;
}

}  // namespace

const Analysis kIdle{"idle", "", "Idle time of each device by cause; sums to idle exactly.", kColumns, run, true};

}  // namespace gpuprof
