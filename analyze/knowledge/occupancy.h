// Theoretical occupancy of a launch, what limits it, and how well its grid fills the device.
//
// The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h, CUDA 12.9 and 13): per-warp register
// allocation inside sub-partitions, per-block shared memory plus the driver's reserve, named barriers, block and warp
// slots. The result equals Nsight Compute's "Theoretical Occupancy" and its per-resource block limits for every recorded
// kernel (tests/unit/knowledge/occupancy_test.cc). A cluster also needs all its blocks in one GPC, whose size is not
// documented, so the number of clusters is an upper bound, and like Nsight Compute's figure the occupancy ignores them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline knowledge {

// Resources of a launch, from its kernel record. Absent = not recorded.
struct LaunchShape {
    int block_x = 1;
    int block_y = 1;
    int block_z = 1;
    std::optional<int> registers_per_thread = {};
    std::optional<std::int64_t> shared_bytes = {};  // static + dynamic, without the driver's reserve
    std::optional<int> barriers = {};               // named barriers per block; absent does not limit
    std::optional<int> cluster_blocks = {};         // blocks per cluster; absent or 1 without clusters
};

// The device. The compute capability selects the table of sm_limits.h; a limit the trace itself reports overrides the
// table.
struct DeviceLimits {
    int cc_major = 0;
    int cc_minor = 0;
    std::string_view name = {};  // only to detect vendors whose "capability" means something else
    std::optional<int> warp_size = {};
    std::optional<int> max_threads_per_sm = {};
    std::optional<int> max_threads_per_block = {};
    std::optional<int> registers_per_sm = {};
    std::optional<int> registers_per_block = {};
    std::optional<std::int64_t> shared_bytes_per_sm = {};
    std::optional<std::int64_t> shared_bytes_per_block_optin = {};
    // The shared-memory carve-out of the launch. By default the driver picks one that does not limit the launch, so
    // leave this absent unless recorded (ncu's launch__shared_mem_config_size); absent means the SM's full capacity.
    std::optional<std::int64_t> shared_config_bytes = {};
    std::optional<int> num_sms = {};  // only for the number of clusters
};

enum class Limiter : std::uint8_t {
    none,
    warps,
    blocks,
    registers,
    shared_memory,
    barriers,
    block_too_large,
    cluster_too_large
};

struct Occupancy {
    double pct = 0;                   // resident warps / warp slots of the SM, 0 to 100
    int blocks_per_sm = 0;            // 0 only if the launch fails: block or cluster too large
    Limiter limiter = Limiter::none;  // none at 100 %; ties: first of registers, shared memory, barriers, blocks, warps
    int warps_per_block = 0;
    // Number of blocks that each resource alone allows; absent if the launch does not use it.
    int limit_warps = 0;
    int limit_blocks = 0;
    std::optional<int> limit_registers = {};
    std::optional<int> limit_shared = {};
    std::optional<int> limit_barriers = {};
    std::optional<std::int64_t> max_clusters = {};  // at most so many at a time on the device; absent without clusters
};

struct SmLimits;
// The table's limits with the device's own in their place; absent if the device is not in the table, or implausible.
[[nodiscard]] std::optional<SmLimits> limits_of(const DeviceLimits& device) noexcept;

// Absent if the device is not in the table (AMD, unknown capability) or the launch lacks registers or shared memory.
[[nodiscard]] std::optional<Occupancy> theoretical_occupancy(const LaunchShape& shape,
                                                             const DeviceLimits& device) noexcept;

// Occupancy over one resource, everything else as in `shape`. Each point is the largest value with its number of blocks;
// the list is empty if the occupancy is unknown.
struct OccupancyPoint {
    std::int64_t value = 0;
    Occupancy occupancy;
};
using OccupancyCurve = std::vector<OccupancyPoint>;
// Block sizes: every multiple of a warp up to the largest block, as blocks of x threads.
[[nodiscard]] OccupancyCurve occupancy_by_threads(const LaunchShape& shape, const DeviceLimits& device);
// Registers per thread: every step of the allocation up to the most that a thread can have.
[[nodiscard]] OccupancyCurve occupancy_by_registers(const LaunchShape& shape, const DeviceLimits& device);
// Shared bytes per block, static + dynamic: every step of the number of blocks, up to the most that a block can have.
[[nodiscard]] OccupancyCurve occupancy_by_shared(const LaunchShape& shape, const DeviceLimits& device);

// The smallest change of one resource that raises the occupancy. A block size is the one with the highest occupancy, and
// of those the nearest to the launch's.
struct OccupancyChange {
    enum class Resource : std::uint8_t { threads, registers, shared_bytes } resource{};
    std::int64_t value = 0;  // at most this many registers or bytes, or exactly this many threads
    double pct = 0;          // the occupancy with it
};
// Empty if no single change of these helps.
[[nodiscard]] std::vector<OccupancyChange> occupancy_changes(const LaunchShape& shape, const DeviceLimits& device);
// "at most 40 registers: 75.0 %; blocks of 128 threads: 100.0 %"; empty for none.
[[nodiscard]] std::string to_string(const std::vector<OccupancyChange>& changes);

// How a grid fills a device. A wave is blocks_per_sm blocks on every SM.
struct LaunchFill {
    double waves = 0;                    // blocks / (blocks_per_sm * num_sms); ncu's launch__waves_per_multiprocessor
    double fill_ratio = 0;               // min(1, waves): the share of the resident capacity that the launch uses
    double tail_efficiency = 0;          // waves / ceil(waves): the share of block slots used over all waves
    bool fewer_blocks_than_sms = false;  // some SMs get no block
};

// Absent if a count is not positive.
[[nodiscard]] std::optional<LaunchFill> launch_fill(std::int64_t grid_blocks, int blocks_per_sm, int num_sms) noexcept;

// "registers", "shared memory", ...; empty for none.
[[nodiscard]] std::string_view to_string(Limiter limiter) noexcept;

}  // namespace gpuprof::knowledge
