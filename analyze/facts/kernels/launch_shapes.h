// Launches by name and by everything that theoretical occupancy depends on: from the timeline, and from kernel profilers
// where the timeline has no such launch. A profiler also tells barriers and clusters, which a timeline may lack.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/facts/stat.h"
#include "analyze/knowledge/occupancy.h"
#include "core/base/string_pool.h"

namespace gpuprof::inline schema {
struct Options;
}

namespace gpuprof::inline facts {

class Facts;

struct ShapedLaunches {
    StringId name = kNoString;
    std::int32_t device = -1;
    LaunchShape shape;
    DeviceLimits limits;
    std::int64_t launches = 0;
    WideSum total_ns;
    std::vector<std::int64_t> measured_launches;  // numbers of launches that a kernel profiler measured
    bool profiled = false;  // only measured by a kernel profiler: its times are not those of the program
};

struct LaunchShapes {
    std::vector<ShapedLaunches> groups;  // longest total first, those of the timeline before the others
    static LaunchShapes make(const Facts& facts);
};

// The occupancy with the options --threads, --registers, --shared-bytes and --cluster; absent without any of them.
bool asks_for_shape(const Options& options);
std::optional<Occupancy> changed_occupancy(const ShapedLaunches& group, const Options& options);

}  // namespace gpuprof::facts
