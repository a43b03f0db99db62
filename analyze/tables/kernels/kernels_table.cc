// `kernels`: which kernels took the device's time? One row per full demangled name, over all devices.
// Launch shape columns hold the value shared by all launches of the name; they are absent as soon as two launches
// differ. Occupancy is theoretical: from block, registers and shared memory of the launch and the limits of its device.
#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>

#include "analyze/facts/kernels/kernel_occupancy.h"
#include "analyze/facts/kernels/kernel_profile.h"
#include "analyze/facts/kernels/launch_shapes.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct Dim3 {
    std::optional<std::int32_t> x, y, z;
    std::optional<std::string> text() const {
        return x && y && z ? std::optional(fmt::format("{},{},{}", *x, *y, *z)) : std::nullopt;
    }
};

struct KernelTimes {
    StringId name = kNoString;
    Stat stat;
    Dim3 grid, block, cluster;
    std::optional<std::int32_t> registers;
    std::optional<std::int64_t> shared_bytes, local_bytes;
    std::optional<Occupancy> occupancy;
    std::optional<double> changed_pct;  // occupancy with the shape that the options ask for
    std::string_view limit;             // by its counters; empty if none were recorded, or shapes differ in it
};

// What the counters of the matching measured kernels say, if it is the same for each launch.
void find_limits(const Facts& facts, const NameGroups& names, std::vector<KernelTimes>& groups) {
    const std::vector<std::uint32_t>& match = facts.get<MeasuredKernels>().match.shape_of;
    if (match.empty()) return;
    const std::vector<KernelProfile>& profiles = facts.get<KernelProfiles>().profiles;
    std::vector<bool> seen(groups.size());
    for (Row row = 0; row < names.rows(); ++row) {
        if (names.of(row) == NameGroups::kLeftOut) continue;
        std::string_view& limit = groups[names.of(row)].limit;
        std::string_view here = match[row] == CounterMatch::kNone ? "" : name_of(profiles[match[row]].limit);
        if (!seen[names.of(row)]) {
            limit = here;
            seen[names.of(row)] = true;
        } else if (limit != here)
            limit = "";
    }
}

// Absent unless known and equal for every launch.
void find_occupancy(const LaunchOccupancy& launches, const NameGroups& names, std::vector<KernelTimes>& groups) {
    constexpr std::uint32_t kDiffers = 0xFFFFFFFFu, kNone = kDiffers - 1;
    std::vector<std::uint32_t> shared(groups.size(), kNone);
    for (Row row = 0; row < names.rows(); ++row) {
        if (names.of(row) == NameGroups::kLeftOut) continue;
        std::uint32_t& shape = shared[names.of(row)];
        std::uint32_t here = launches.shape(row);
        if (shape == here || shape == kDiffers) continue;
        const std::optional<Occupancy>&a = launches.of_shape(shape == kNone ? here : shape),
              &b = launches.of_shape(here);
        bool same = shape == kNone || (a && b && a->pct == b->pct && a->limiter == b->limiter);
        shape = same ? here : kDiffers;
    }
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (shared[i] < kNone) groups[i].occupancy = launches.of_shape(shared[i]);
}

// If it is the same for every shape that a kernel was launched with.
void find_changed_occupancy(const Facts& facts, std::vector<KernelTimes>& groups) {
    if (!asks_for_shape(facts.options())) return;
    std::map<StringId, std::optional<double>> by_name;
    for (const ShapedLaunches& launches : facts.get<LaunchShapes>().groups) {
        if (launches.profiled) continue;
        std::optional<Occupancy> changed = changed_occupancy(launches, facts.options());
        std::optional<double> pct = changed ? std::optional(changed->pct) : std::nullopt;
        auto [known, first] = by_name.try_emplace(launches.name, pct);
        if (!first && known->second != pct) known->second = std::nullopt;
    }
    for (KernelTimes& group : groups)
        if (auto found = by_name.find(group.name); found != by_name.end()) group.changed_pct = found->second;
}

void find_shapes(const Facts& facts, const NameGroups& names, std::vector<KernelTimes>& groups) {
    const KernelTable& kernels = facts.trace().kernel();
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
        [&] {
            take(
                kernels.cluster_x, [](KernelTimes & g) -> auto& { return g.cluster.x; });
        },
        [&] {
            take(
                kernels.cluster_y, [](KernelTimes & g) -> auto& { return g.cluster.y; });
        },
        [&] {
            take(
                kernels.cluster_z, [](KernelTimes & g) -> auto& { return g.cluster.z; });
        },
        [&] {
            take(
                kernels.local_bytes, [](KernelTimes & g) -> auto& { return g.local_bytes; });
        },
        [&] { find_occupancy(facts.get<LaunchOccupancy>(), names, groups); },
    };
    for_each_group(std::size(tasks), kernels.rows, [&](std::size_t i) { tasks[i](); });
}

// By group of `names`.
std::vector<KernelTimes> measure(const Facts& facts, const NameGroups& names) {
    std::vector<KernelTimes> groups(names.size());
    find_shapes(facts, names, groups);
    find_limits(facts, names, groups);
    PodVector<std::int64_t> durations = names.gather([&](Row row) { return facts.trace().kernel().dur[row]; });
    for_each_group(groups.size(), durations.size(), [&](std::size_t i) {
        groups[i].name = names.name(i);
        groups[i].stat = stat_of(names.slice(durations, i));
    });
    find_changed_occupancy(facts, groups);
    return groups;
}

struct KernelsRow {
    const Trace& trace;
    const KernelTimes& group;
    const WideSum& whole;
};

constexpr auto kKernelsColumns = columns_of<KernelsRow>({
    {"name", CellType::text, Unit::none, "Full demangled kernel name.",
     [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"count", CellType::integer, Unit::count, "Number of executions.", [](auto& r) { return r.group.stat.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.",
     [](auto& r) { return r.group.stat.sum.value(); }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of all kernel time.",
     [](auto& r) { return percent(r.group.stat.sum.real(), r.whole.real()); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration.", [](auto& r) { return r.group.stat.mean; }},
    {"min_ns", CellType::integer, Unit::ns, "Shortest duration.", [](auto& r) { return r.group.stat.min; }},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank).", [](auto& r) { return r.group.stat.p50; }},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank).",
     [](auto& r) { return r.group.stat.p95; }},
    {"max_ns", CellType::integer, Unit::ns, "Longest duration.", [](auto& r) { return r.group.stat.max; }},
    {"std_ns", CellType::real, Unit::ns, "Population standard deviation.", [](auto& r) { return r.group.stat.std; }},
    {"grid", CellType::text, Unit::none, "Grid size in blocks, x,y,z, if the same for all launches.",
     [](auto& r) { return r.group.grid.text(); }},
    {"block", CellType::text, Unit::none, "Block size in threads, x,y,z, if the same for all launches.",
     [](auto& r) { return r.group.block.text(); }},
    {"registers", CellType::integer, Unit::count, "Registers per thread, if the same for all launches.",
     [](auto& r) { return r.group.registers; }},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory per block, if the same for all launches.",
     [](auto& r) { return r.group.shared_bytes; }},
    {"occupancy_pct", CellType::real, Unit::percent, "Theoretical occupancy of the launch on its device.",
     [](auto& r) { return r.group.occupancy ? real(r.group.occupancy->pct) : kAbsent; }},
    {"limiter", CellType::text, Unit::none, "Limiter of the occupancy: registers, shared memory, blocks or warps.",
     [](auto& r) { return text_cell(r.group.occupancy ? to_string(r.group.occupancy->limiter) : ""); }},
    {"local_bytes", CellType::integer, Unit::bytes,
     "Local memory per thread (register spills, arrays), if the same for all launches.",
     [](auto& r) { return r.group.local_bytes; }},
    {"cluster", CellType::text, Unit::none, "Cluster size in blocks, x,y,z, if the same for all launches.",
     [](auto& r) { return r.group.cluster.text(); }},
    {"limit", CellType::text, Unit::none,
     "What holds it back by its counters, if the same for all launches: DRAM-bound, compute-bound, ... (`limits`).",
     [](auto& r) { return text_cell(r.group.limit); }},
    {"changed_pct", CellType::real, Unit::percent,
     "The occupancy with the given --threads, --registers, --shared-bytes and --cluster, if the same for all "
     "launches.",
     [](auto& r) { return r.group.changed_pct; }},
});

Result<ResultTable> kernels_table(const Facts& facts) {
    const KernelNames& names = facts.get<KernelNames>();
    std::vector<KernelTimes> groups = measure(facts, names.groups);
    WideSum whole;
    for (const WideSum& total : names.totals) whole.add(total);
    ResultTable table("kernels", kKernelsColumns);
    table.handle_prefix = "k";
    for (std::uint32_t group : names.order) table.add(kKernelsColumns, {facts.trace(), groups[group], whole});
    return table;
}

}  // namespace

const Analysis kKernels{"kernels", "cuda_gpu_kern_sum", "Per kernel name: time, launch shape, occupancy.",
                        kKernelsColumns, kernels_table};

}  // namespace gpuprof::tables
