// Theoretical occupancy of each launch, from its block, registers and shared memory and the limits of its device. Launches
// are of few shapes: each shape is computed once, and every user reads the same figure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/knowledge/occupancy.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

class Facts;

class LaunchOccupancy {
public:
    static LaunchOccupancy make(const Facts& facts);
    // Of a row of `kernel`; absent when its shape or its device's limits are not known.
    const std::optional<Occupancy>& of(Row kernel) const { return shapes_[shape_.empty() ? 0 : shape_[kernel]]; }
    // Launches of the same shape share one occupancy.
    std::uint32_t shape(Row kernel) const { return shape_.empty() ? 0 : shape_[kernel]; }
    const std::optional<Occupancy>& of_shape(std::uint32_t shape) const { return shapes_[shape]; }
    bool known() const { return shapes_.size() > 1; }

private:
    PodVector<std::uint32_t> shape_;                // by row; empty when no launch has registers
    std::vector<std::optional<Occupancy>> shapes_;  // shape 0: not known
};

}  // namespace gpuprof
