// Theoretical occupancy of each launch, from its block, registers and shared memory and the limits of its device.
// Launches have few distinct shapes, so each shape is computed once, and all users read the same figure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/knowledge/occupancy.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline model {
class Trace;
}

namespace gpuprof::inline facts {

class Facts;

// What the recording says of each device, by its ordinal.
std::map<std::int32_t, DeviceLimits> limits_by_device(const Trace& trace);

class LaunchOccupancy {
public:
    static LaunchOccupancy make(const Facts& facts);
    // Of a row of `kernel`; absent if its shape or its device's limits are unknown.
    const std::optional<Occupancy>& of(Row kernel) const { return shapes_[shape_.empty() ? 0 : shape_[kernel]]; }
    // Launches of the same shape share one occupancy.
    std::uint32_t shape(Row kernel) const { return shape_.empty() ? 0 : shape_[kernel]; }
    const std::optional<Occupancy>& of_shape(std::uint32_t shape) const { return shapes_[shape]; }
    bool known() const { return shapes_.size() > 1; }

private:
    PodVector<std::uint32_t> shape_;                // by row; empty if no launch has registers
    std::vector<std::optional<Occupancy>> shapes_;  // shape 0: unknown
};

}  // namespace gpuprof::facts
