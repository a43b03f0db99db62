// `hlo`: which XLA instructions took the devices' time? One row per module, instruction and framework operator: the
// kernels that XLA's profiler links to them. Kernels without any of the three form one row, so that the rows sum to all
// kernel time.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kHloColumns[] = {
    {"module", CellType::text, Unit::none, "XLA module, e.g. jit_step."},
    {"hlo_op", CellType::text, Unit::none, "HLO instruction, e.g. loop_fusion.3; absent if the kernel has none."},
    {"framework_op", CellType::text, Unit::none,
     "Framework operator that the instruction was compiled from, if recorded."},
    {"kernels", CellType::integer, Unit::count, "Number of kernels executed."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the kernel durations."},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of all kernel time."},
    {"mean_ns", CellType::real, Unit::ns, "Mean kernel duration."},
    {"kernel", CellType::text, Unit::none, "Kernel name, if all kernels share it."},
};

struct HloKey {
    StringId module, op, framework_op;
    auto operator<=>(const HloKey&) const = default;
};
struct Time {
    WideSum total;
    std::uint64_t kernels = 0;
    StringId name = kNoString;
    bool one_name = true;
};

Result<ResultTable> hlo_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    ResultTable table("hlo", kHloColumns);
    table.handle_prefix = "hlo";
    if (kernels.hlo_op.none_present() && kernels.framework_op.none_present() && kernels.hlo_module.none_present()) {
        table.notes.push_back(
            "No kernel is linked to an XLA instruction; jax.profiler and TensorFlow's profiler record them.");
        return table;
    }
    std::map<HloKey, Time> times;
    WideSum whole;
    std::int64_t only = facts.options().device;
    for (Row row = 0; row < kernels.rows; ++row) {
        if (only >= 0 && kernels.device.value_or(row, -1) != only) continue;
        StringId name = kernels.name.value_or(row, kNoString);
        Time& time = times[{kernels.hlo_module.value_or(row, kNoString), kernels.hlo_op.value_or(row, kNoString),
                            kernels.framework_op.value_or(row, kNoString)}];
        if (time.kernels++ == 0) time.name = name;
        time.one_name = time.one_name && time.name == name;
        time.total.add(kernels.dur[row]);
        whole.add(kernels.dur[row]);
    }
    std::vector<const std::pair<const HloKey, Time>*> order;
    for (const auto& entry : times) order.push_back(&entry);
    auto text = [&](StringId id) { return id == kNoString ? std::string_view() : trace.text(id); };
    std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
        if (a->second.total != b->second.total) return a->second.total > b->second.total;
        return std::tuple(text(a->first.module), text(a->first.op), text(a->first.framework_op)) <
               std::tuple(text(b->first.module), text(b->first.op), text(b->first.framework_op));
    });
    for (const auto* entry : order) {
        const auto& [key, time] = *entry;
        table.add_row({text_cell(trace, key.module), text_cell(trace, key.op), text_cell(trace, key.framework_op),
                       integer(time.kernels), integer(time.total.value()), percent(time.total.real(), whole.real()),
                       real(time.total.over(time.kernels)), time.one_name ? text_cell(trace, time.name) : kAbsent});
    }
    return table;
}

}  // namespace

const Analysis kHlo{"hlo", "", "Per XLA instruction and framework operator: kernel time.", kHloColumns, hlo_table};

}  // namespace gpuprof::tables
