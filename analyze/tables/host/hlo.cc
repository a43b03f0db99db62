// `hlo`: which XLA instructions took the devices' time? One row per module, instruction and framework operator: the
// kernels that XLA's profiler links to them. Kernels without any of the three form one row, so that the rows sum to all
// kernel time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

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

struct HloRow {
    const Trace& trace;
    const HloKey& key;
    const Time& time;
    const WideSum& whole;
};

constexpr auto kHloColumns = columns_of<HloRow>({
    {"module", CellType::text, Unit::none, "XLA module, e.g. jit_step.",
     [](auto& r) { return text_cell(r.trace, r.key.module); }},
    {"hlo_op", CellType::text, Unit::none, "HLO instruction, e.g. loop_fusion.3; absent if the kernel has none.",
     [](auto& r) { return text_cell(r.trace, r.key.op); }},
    {"framework_op", CellType::text, Unit::none,
     "Framework operator that the instruction was compiled from, if recorded.",
     [](auto& r) { return text_cell(r.trace, r.key.framework_op); }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels executed.", [](auto& r) { return r.time.kernels; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the kernel durations.",
     [](auto& r) { return r.time.total.value(); }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of all kernel time.",
     [](auto& r) { return percent(r.time.total.real(), r.whole.real()); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean kernel duration.",
     [](auto& r) { return r.time.total.over(r.time.kernels); }},
    {"kernel", CellType::text, Unit::none, "Kernel name, if all kernels share it.",
     [](auto& r) { return r.time.one_name ? text_cell(r.trace, r.time.name) : kAbsent; }},
});

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
    WideSum buffers;
    for (const auto* entry : order) {
        table.add(kHloColumns, {trace, entry->first, entry->second, whole});
        if (text(entry->first.op).starts_with("command_buffer")) buffers.add(entry->second.total);
    }
    if (std::optional<std::int64_t> ns = buffers.value(); ns && *ns > 0)
        table.notes.push_back(fmt::format(
            "{} ({} % of kernel time) ran in command buffers and is not linked to an instruction: XLA names only "
            "kernels "
            "that it generated. To link all, record with XLA_FLAGS=--xla_gpu_enable_command_buffer= (nothing after the "
            "last sign).",
            readable_duration(*ns), readable_percent(100 * buffers.real() / whole.real())));
    return table;
}

}  // namespace

const Analysis kHlo{"hlo", "", "Per XLA instruction and framework operator: kernel time.", kHloColumns, hlo_table};

}  // namespace gpuprof::tables
