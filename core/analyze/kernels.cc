// `kernels`: which kernels took the device's time? One row per full demangled name, over all devices.
// Launch shape columns hold the value all launches of the name share; they are absent as soon as two differ.
// Occupancy is theoretical: from block, registers and shared memory of the launch and the limits of its devices.
#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "core/analyze/analysis_list.h"
#include "core/analyze/cells.h"
#include "core/analyze/knowledge/occupancy.h"
#include "core/analyze/name_groups.h"
#include "core/analyze/stat.h"

namespace gpuprof {
namespace {

struct Extent {
    std::optional<std::int32_t> x, y, z;
    bool known() const { return x && y && z; }
    std::string text() const { return known() ? fmt::format("{},{},{}", *x, *y, *z) : ""; }
};

struct KernelTimes {
    StringId name = kNoString;
    Stat stat;
    std::vector<std::int32_t> devices;  // ordinals it ran on, -1 for none recorded
    Extent grid, block;
    std::optional<std::int32_t> registers;
    std::optional<std::int64_t> shared_bytes;
    std::optional<Occupancy> occupancy;
};

DeviceLimits limits_of(const Trace& trace, Row device) {
    const DeviceTable& table = trace.tables().device;
    DeviceLimits limits;
    limits.cc_major = table.cc_major.value_or(device, 0);
    limits.cc_minor = table.cc_minor.value_or(device, 0);
    limits.name = trace.text(table.name.value_or(device, kNoString));
    limits.warp_size = table.warp_size.get(device);
    limits.max_threads_per_sm = table.max_threads_per_sm.get(device);
    limits.max_threads_per_block = table.max_threads_per_block.get(device);
    limits.registers_per_sm = table.registers_per_sm.get(device);
    limits.registers_per_block = table.registers_per_block.get(device);
    limits.shared_bytes_per_sm = table.shared_bytes_per_sm.get(device);
    limits.shared_bytes_per_block_optin = table.shared_bytes_per_block_optin.get(device);
    return limits;
}

// Absent unless it is known, and the same, on every device the kernel ran on.
std::optional<Occupancy> occupancy_of(const Trace& trace, const KernelTimes& group) {
    if (!group.block.known()) return {};
    LaunchShape shape{*group.block.x, *group.block.y, *group.block.z, group.registers, group.shared_bytes};
    std::optional<Occupancy> result;
    for (std::int32_t ordinal : group.devices) {
        const auto& known = trace.tables().device.device;
        Row device = 0;
        while (device < known.size() && known.get(device) != ordinal) ++device;
        if (device == known.size()) return {};
        std::optional<Occupancy> here = theoretical_occupancy(shape, limits_of(trace, device));
        if (!here || (result && (result->pct != here->pct || result->limiter != here->limiter))) return {};
        result = here;
    }
    return result;
}

void find_devices(const Trace& trace, const NameGroups& names, std::vector<KernelTimes>& groups) {
    for (Row row = 0; row < names.rows(); ++row) {
        if (names.of(row) == NameGroups::kLeftOut) continue;
        std::vector<std::int32_t>& devices = groups[names.of(row)].devices;
        std::int32_t device = trace.kernel().device.value_or(row, -1);
        if (!devices.empty() && devices.back() == device) continue;
        auto known = std::find(devices.begin(), devices.end(), device);
        if (known == devices.end()) {
            devices.push_back(device);
        } else {
            std::swap(*known, devices.back());
        }
    }
}

void find_shapes(const Trace& trace, const NameGroups& names, std::vector<KernelTimes>& groups) {
    const KernelTable& kernels = trace.kernel();
    // Columns are independent: each task reads one and writes its own members.
    auto take = [&](const auto& column, auto&& member) {
        auto shared = names.shared(column);
        for (std::size_t i = 0; i < groups.size(); ++i) member(groups[i]) = shared[i];
    };
    const std::function<void()> tasks[] = {
        [&] {
            take(
                kernels.grid_x, [](KernelTimes & g) -> auto& { return g.grid.x; });
        },
        [&] {
            take(
                kernels.grid_y, [](KernelTimes & g) -> auto& { return g.grid.y; });
        },
        [&] {
            take(
                kernels.grid_z, [](KernelTimes & g) -> auto& { return g.grid.z; });
        },
        [&] {
            take(
                kernels.block_x, [](KernelTimes & g) -> auto& { return g.block.x; });
        },
        [&] {
            take(
                kernels.block_y, [](KernelTimes & g) -> auto& { return g.block.y; });
        },
        [&] {
            take(
                kernels.block_z, [](KernelTimes & g) -> auto& { return g.block.z; });
        },
        [&] {
            take(
                kernels.registers, [](KernelTimes & g) -> auto& { return g.registers; });
        },
        [&] {
            take(
                kernels.shared_bytes, [](KernelTimes & g) -> auto& { return g.shared_bytes; });
        },
        [&] { find_devices(trace, names, groups); },
    };
    for_each_group(std::size(tasks), kernels.rows, [&](std::size_t i) { tasks[i](); });
}

std::vector<KernelTimes> measure(const Trace& trace, const NameGroups& names) {
    std::vector<KernelTimes> groups(names.size());
    find_shapes(trace, names, groups);
    PodVector<std::int64_t> durations = names.gather([&](Row row) { return trace.kernel().dur[row]; });
    for_each_group(groups.size(), durations.size(), [&](std::size_t i) {
        groups[i].name = names.name(i);
        groups[i].stat = stat_of(names.slice(durations, i));
        groups[i].occupancy = occupancy_of(trace, groups[i]);
    });
    std::sort(groups.begin(), groups.end(), [&](const KernelTimes& a, const KernelTimes& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : trace.text(a.name) < trace.text(b.name);
    });
    return groups;
}

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name, demangled, in full."},
    {"count", CellType::integer, Unit::count, "Executions."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"share_pct", CellType::real, Unit::percent, "total_ns of the sum over all kernels."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"min_ns", CellType::integer, Unit::ns, "Shortest."},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank)."},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank)."},
    {"max_ns", CellType::integer, Unit::ns, "Longest."},
    {"std_ns", CellType::real, Unit::ns, "Standard deviation of the population."},
    {"grid", CellType::text, Unit::none, "Blocks x,y,z, when every launch has the same."},
    {"block", CellType::text, Unit::none, "Threads of a block x,y,z, when every launch has the same."},
    {"registers", CellType::integer, Unit::count, "Registers per thread, when every launch has the same."},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory of a block, when every launch has the same."},
    {"occupancy_pct", CellType::real, Unit::percent, "Theoretical occupancy of the launch on its device."},
    {"limiter", CellType::text, Unit::none, "What limits it: registers, shared memory, blocks or warps."},
};

void add(ResultTable& table, const Trace& trace, const KernelTimes& group, const WideSum& whole) {
    const Stat& stat = group.stat;
    std::string grid = group.grid.text(), block = group.block.text();
    std::string_view limiter = group.occupancy ? to_string(group.occupancy->limiter) : "";
    table.add_row({
        text_cell(trace, group.name),
        integer(stat.count),
        integer(stat.sum.value()),
        percent(stat.sum.real(), whole.real()),
        real(stat.mean),
        integer(stat.min),
        integer(stat.p50),
        integer(stat.p95),
        integer(stat.max),
        real(stat.std),
        text_cell(grid),
        text_cell(block),
        integer(group.registers),
        integer(group.shared_bytes),
        group.occupancy ? real(group.occupancy->pct) : kAbsent,
        text_cell(limiter),
    });
}

Result<ResultTable> run(const Study& study) {
    const Trace& trace = study.trace();
    std::int64_t only = study.options().device;
    NameGroups names(trace.kernel().name, trace.strings().size(),
                     [&](Row row) { return only < 0 || trace.kernel().device.value_or(row, -1) == only; });
    std::vector<KernelTimes> groups = measure(trace, names);
    WideSum whole;
    for (const KernelTimes& group : groups) whole.add(group.stat.sum);
    ResultTable table("kernels", kColumns);
    table.handle_prefix = "k";
    for (const KernelTimes& group : groups) add(table, trace, group, whole);
    return table;
}

}  // namespace

const Analysis kKernels{"kernels", "cuda_gpu_kern_sum", "Per kernel name: time, launch shape, occupancy.", kColumns,
                        run};

}  // namespace gpuprof
