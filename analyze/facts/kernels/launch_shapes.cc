#include "analyze/facts/kernels/launch_shapes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_occupancy.h"
#include "core/schema/counter_units.h"

namespace gpuprof::inline facts {
namespace {

// -1 for what was not recorded.
using ShapeKey =
    std::tuple<StringId, std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int64_t,
               std::int32_t>;  // name, device, block x, y, z, registers, shared bytes, blocks per cluster

ShapeKey key_of(StringId name, std::int32_t device, const LaunchShape& shape) {
    return {name,
            device,
            shape.block_x,
            shape.block_y,
            shape.block_z,
            shape.registers_per_thread.value_or(-1),
            shape.shared_bytes.value_or(-1),
            std::max(shape.cluster_blocks.value_or(1), 1)};
}

// Absent unless the product is a plausible number of blocks.
std::optional<int> cluster_blocks(const KernelTable& table, Row row) {
    if (!table.cluster_x.has(row) || !table.cluster_y.has(row) || !table.cluster_z.has(row)) return std::nullopt;
    constexpr std::int32_t kMost = 1024;
    std::int32_t x = table.cluster_x[row], y = table.cluster_y[row], z = table.cluster_z[row];
    if (x < 1 || y < 1 || z < 1 || x > kMost || y > kMost || z > kMost) return std::nullopt;
    std::int64_t product = std::int64_t{x} * y * z;
    return product <= kMost ? std::optional(static_cast<int>(product)) : std::nullopt;
}

// What Nsight Compute's raw page says of a launch. Its details page rounds bytes, so that it cannot stand in.
struct Resources {
    std::optional<double> registers, static_bytes, dynamic_bytes, barriers, cluster;
};

// Bytes of a metric in byte/block, Kbyte/block, ... (powers of 1000); absent for other units.
std::optional<double> bytes_of(double value, std::string_view unit) {
    std::optional<BaseUnit> base = base_unit_of(unit);
    if (!base || (base->name != "byte" && base->name != "byte/block")) return std::nullopt;
    return std::round(value * base->factor);
}

std::unordered_map<std::int64_t, Resources> resources_by_launch(const Trace& trace) {
    const KernelCounterTable& table = trace.tables().kernel_counter;
    std::unordered_map<std::int64_t, Resources> found;
    for (Row row = 0; row < table.rows; ++row) {
        std::string_view metric = trace.text(table.metric.value_or(row, kNoString));
        if (!metric.starts_with("launch__") || !table.value.has(row)) continue;
        std::string_view unit = trace.text(table.unit.value_or(row, kNoString));
        double value = table.value[row];
        Resources& of = found[table.launch.value_or(row, -1)];
        if (metric == "launch__registers_per_thread") of.registers = value;
        if (metric == "launch__shared_mem_per_block_static") of.static_bytes = bytes_of(value, unit);
        if (metric == "launch__shared_mem_per_block_dynamic") of.dynamic_bytes = bytes_of(value, unit);
        if (metric == "launch__barrier_count") of.barriers = value;
        if (metric == "launch__cluster_size") of.cluster = value;
    }
    return found;
}

template <class Integer>
std::optional<Integer> whole(const std::optional<double>& value) {
    constexpr double kMost = 1 << 30;
    return value && *value >= 0 && *value <= kMost ? std::optional(static_cast<Integer>(*value)) : std::nullopt;
}

class Collector {
public:
    explicit Collector(const Facts& facts)
        : trace_(facts.trace()),
          only_(facts.options().device),
          limits_(limits_by_device(facts.trace())),
          latest_(facts.trace().strings().size() + 1) {}

    void take_timeline() {
        const KernelTable& table = trace_.kernel();
        for (Row row = 0; row < table.rows; ++row) {
            std::int32_t device = table.device.value_or(row, -1);
            if (!wanted(device) || !table.block_x.has(row) || !table.block_y.has(row) || !table.block_z.has(row))
                continue;
            LaunchShape shape{table.block_x[row], table.block_y[row], table.block_z[row], table.registers.get(row),
                              table.shared_bytes.get(row)};
            shape.cluster_blocks = cluster_blocks(table, row);
            ShapedLaunches& group = group_of(table.name.value_or(row, kNoString), device, shape, false);
            ++group.launches;
            group.total_ns.add(table.dur[row]);
        }
    }

    void take_profiled() {
        const ProfiledKernelTable& table = trace_.tables().profiled_kernel;
        std::unordered_map<std::int64_t, Resources> counted = resources_by_launch(trace_);
        for (Row row = 0; row < table.rows; ++row) {
            std::int32_t device = table.device.value_or(row, -1);
            if (!wanted(device) || !table.block_x.has(row) || !table.block_y.has(row) || !table.block_z.has(row))
                continue;
            const Resources& of = counted[table.launch.value_or(row, -1)];
            LaunchShape shape{table.block_x[row], table.block_y[row], table.block_z[row]};
            shape.registers_per_thread = table.registers.get(row);
            if (!shape.registers_per_thread) shape.registers_per_thread = whole<int>(of.registers);
            shape.shared_bytes = table.shared_bytes.get(row);
            if (!shape.shared_bytes && of.static_bytes && of.dynamic_bytes)
                shape.shared_bytes = whole<std::int64_t>(*of.static_bytes + *of.dynamic_bytes);
            shape.cluster_blocks = table.cluster_size.get(row);
            if (!shape.cluster_blocks) shape.cluster_blocks = whole<int>(of.cluster);
            ShapedLaunches& group = group_of(table.name.value_or(row, kNoString), device, shape, true);
            if (std::optional<int> barriers = whole<int>(of.barriers)) group.shape.barriers = barriers;
            complete(group.limits, table, row);
            if (table.launch.has(row)) group.measured_launches.push_back(table.launch[row]);
            if (!group.profiled) continue;  // a profiler repeats launches of the timeline
            ++group.launches;
            group.total_ns.add(table.dur.value_or(row, 0));
        }
    }

    std::vector<ShapedLaunches> groups;

private:
    bool wanted(std::int32_t device) const { return only_ < 0 || device == only_; }

    // Most launches repeat the shape of the launch of this name before.
    ShapedLaunches& group_of(StringId name, std::int32_t device, const LaunchShape& shape, bool profiled) {
        ShapeKey key = key_of(name, device, shape);
        auto& [last_key, last_group] = latest_[name == kNoString ? latest_.size() - 1 : index_of(name)];
        if (last_group != 0 && last_key == key) return groups[last_group - 1];
        auto [found, added] = numbers_.try_emplace(key, groups.size());
        if (added) {
            auto limits = limits_.find(device);
            groups.push_back(
                {name, device, shape, limits == limits_.end() ? DeviceLimits{} : limits->second, 0, {}, {}, profiled});
        }
        last_key = key;
        last_group = found->second + 1;
        return groups[found->second];
    }

    // A profiler's file names the capability with each launch.
    static void complete(DeviceLimits& limits, const ProfiledKernelTable& table, Row row) {
        if (limits.cc_major != 0 || !table.cc_major.has(row) || !table.cc_minor.has(row)) return;
        limits.cc_major = table.cc_major[row];
        limits.cc_minor = table.cc_minor[row];
    }

    const Trace& trace_;
    std::int64_t only_;
    std::map<std::int32_t, DeviceLimits> limits_;
    std::map<ShapeKey, std::size_t> numbers_;
    std::vector<std::pair<ShapeKey, std::size_t>> latest_;  // by name; 0: none, else a group, counted from 1
};

int narrow(std::int64_t value) { return static_cast<int>(std::min<std::int64_t>(value, 1 << 30)); }

LaunchShape changed(LaunchShape shape, const Options& options) {
    if (options.threads > 0) {
        shape.block_x = narrow(options.threads);
        shape.block_y = shape.block_z = 1;
    }
    if (options.registers > 0) shape.registers_per_thread = narrow(options.registers);
    if (options.shared_bytes > 0) shape.shared_bytes = options.shared_bytes;
    if (options.cluster > 0) shape.cluster_blocks = narrow(options.cluster);
    return shape;
}

}  // namespace

bool asks_for_shape(const Options& options) {
    return options.threads > 0 || options.registers > 0 || options.shared_bytes > 0 || options.cluster > 0;
}

std::optional<Occupancy> changed_occupancy(const ShapedLaunches& group, const Options& options) {
    if (!asks_for_shape(options)) return std::nullopt;
    return theoretical_occupancy(changed(group.shape, options), group.limits);
}

LaunchShapes LaunchShapes::make(const Facts& facts) {
    Collector collector(facts);
    collector.take_timeline();
    collector.take_profiled();
    LaunchShapes result{std::move(collector.groups)};
    std::stable_sort(result.groups.begin(), result.groups.end(), [](const ShapedLaunches& a, const ShapedLaunches& b) {
        return a.profiled != b.profiled ? a.profiled < b.profiled : a.total_ns.real() > b.total_ns.real();
    });
    return result;
}

}  // namespace gpuprof::facts
