// Occupancy over block size, registers and shared memory, and the single changes that raise it: the calculator of
// occupancy.cc asked again with one resource changed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analyze/knowledge/occupancy.h"
#include "analyze/knowledge/sm_limits.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline knowledge {
namespace {

using Resource = OccupancyChange::Resource;

LaunchShape with(LaunchShape shape, Resource resource, std::int64_t value) {
    switch (resource) {
        case Resource::threads:
            shape.block_x = static_cast<int>(value);
            shape.block_y = shape.block_z = 1;
            break;
        case Resource::registers: shape.registers_per_thread = static_cast<int>(value); break;
        case Resource::shared_bytes: shape.shared_bytes = value; break;
    }
    return shape;
}

OccupancyCurve curve(const LaunchShape& shape, const DeviceLimits& device, Resource resource,
                     const std::vector<std::int64_t>& values) {
    OccupancyCurve points;
    for (std::int64_t value : values)
        if (std::optional<Occupancy> occupancy = theoretical_occupancy(with(shape, resource, value), device))
            points.push_back({value, *occupancy});
    return points;
}

std::int64_t threads_of(const LaunchShape& shape) {
    return std::int64_t{shape.block_x} * shape.block_y * shape.block_z;
}

// The largest value below `now` with a higher occupancy.
void add_less(std::vector<OccupancyChange>& changes, const OccupancyCurve& points, Resource resource, std::int64_t now,
              double pct) {
    const OccupancyPoint* best = nullptr;
    for (const OccupancyPoint& point : points)
        if (point.value < now && point.occupancy.pct > pct && (best == nullptr || point.value > best->value))
            best = &point;
    if (best != nullptr) changes.push_back({resource, best->value, best->occupancy.pct});
}

void add_block_size(std::vector<OccupancyChange>& changes, const OccupancyCurve& points, std::int64_t now, double pct) {
    const OccupancyPoint* best = nullptr;
    for (const OccupancyPoint& point : points) {
        if (point.occupancy.pct <= pct) continue;
        double before = best == nullptr ? 0 : best->occupancy.pct;
        bool nearer = best != nullptr && std::abs(point.value - now) < std::abs(best->value - now);
        if (point.occupancy.pct > before || (point.occupancy.pct == before && nearer)) best = &point;
    }
    if (best != nullptr) changes.push_back({Resource::threads, best->value, best->occupancy.pct});
}

}  // namespace

OccupancyCurve occupancy_by_threads(const LaunchShape& shape, const DeviceLimits& device) {
    const std::optional<SmLimits> limits = limits_of(device);
    if (!limits) return {};
    std::vector<std::int64_t> values;
    for (std::int64_t threads = limits->warp_size; threads <= limits->max_threads_per_block;
         threads += limits->warp_size)
        values.push_back(threads);
    return curve(shape, device, Resource::threads, values);
}

OccupancyCurve occupancy_by_registers(const LaunchShape& shape, const DeviceLimits& device) {
    const std::optional<SmLimits> limits = limits_of(device);
    if (!limits) return {};
    const int step = limits->register_unit / limits->warp_size;
    std::vector<std::int64_t> values;
    for (std::int64_t count = step; count < limits->max_registers_per_thread; count += step) values.push_back(count);
    values.push_back(limits->max_registers_per_thread);
    return curve(shape, device, Resource::registers, values);
}

OccupancyCurve occupancy_by_shared(const LaunchShape& shape, const DeviceLimits& device) {
    const std::optional<SmLimits> limits = limits_of(device);
    if (!limits) return {};
    const std::int64_t capacity =
        std::min(device.shared_config_bytes.value_or(limits->shared_bytes), limits->shared_bytes);
    std::vector<std::int64_t> values;
    for (int blocks = limits->max_blocks; blocks > 0; --blocks) {
        const std::int64_t share = capacity / blocks / limits->shared_unit * limits->shared_unit;
        const std::int64_t bytes =
            std::min(share - limits->reserved_shared_bytes_per_block, limits->max_shared_bytes_per_block);
        if (bytes >= 0 && (values.empty() || bytes > values.back())) values.push_back(bytes);
    }
    return curve(shape, device, Resource::shared_bytes, values);
}

std::vector<OccupancyChange> occupancy_changes(const LaunchShape& shape, const DeviceLimits& device) {
    const std::optional<Occupancy> now = theoretical_occupancy(shape, device);
    if (!now) return {};
    std::vector<OccupancyChange> changes;
    add_less(changes, occupancy_by_registers(shape, device), Resource::registers, *shape.registers_per_thread,
             now->pct);
    add_less(changes, occupancy_by_shared(shape, device), Resource::shared_bytes, *shape.shared_bytes, now->pct);
    add_block_size(changes, occupancy_by_threads(shape, device), threads_of(shape), now->pct);
    return changes;
}

std::string to_string(const std::vector<OccupancyChange>& changes) {
    std::string text;
    for (const OccupancyChange& change : changes) {
        if (!text.empty()) text += "; ";
        switch (change.resource) {
            case Resource::threads: text += fmt::format("blocks of {} threads", change.value); break;
            case Resource::registers: text += fmt::format("at most {} registers", change.value); break;
            case Resource::shared_bytes:
                text += fmt::format("at most {} B of shared memory", readable_count(change.value));
                break;
        }
        text += fmt::format(": {} %", readable_percent(change.pct));
    }
    return text;
}

}  // namespace gpuprof::knowledge
