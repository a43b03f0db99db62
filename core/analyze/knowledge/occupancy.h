// Theoretical occupancy of a launch, what limits it, and how well its grid fills the device.
//
// The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h, CUDA 12.9): per-warp register allocation
// inside sub-partitions, per-block shared memory plus the driver's reserve, block and warp slots. The result equals
// Nsight Compute's "Theoretical Occupancy" and its per-resource block limits for every recorded kernel
// (tests/unit/knowledge/occupancy_test.cc). Named barriers and cluster scheduling can lower the result further; they
// are not modelled because traces do not contain them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof {

// Resources of a launch, from its kernel record. Absent = not recorded.
struct LaunchShape {
    int block_x = 1;
    int block_y = 1;
    int block_z = 1;
    std::optional<int> registers_per_thread = {};
    std::optional<std::int64_t> shared_bytes = {};  // static + dynamic, without the driver's reserve
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
};

enum class Limiter : std::uint8_t { none, warps, blocks, registers, shared_memory, block_too_large };

struct Occupancy {
    double pct = 0;                   // resident warps / warp slots of the SM, 0 to 100
    int blocks_per_sm = 0;            // 0 only with Limiter::block_too_large
    Limiter limiter = Limiter::none;  // none at 100 %; ties go to the first of registers, shared memory, blocks, warps
    int warps_per_block = 0;
    // Number of blocks that each resource alone allows; absent if the launch does not use it.
    int limit_warps = 0;
    int limit_blocks = 0;
    std::optional<int> limit_registers = {};
    std::optional<int> limit_shared = {};
};

// Absent if the device is not in the table (AMD, unknown capability) or the launch lacks registers or shared memory.
[[nodiscard]] std::optional<Occupancy> theoretical_occupancy(const LaunchShape& shape,
                                                             const DeviceLimits& device) noexcept;

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

}  // namespace gpuprof
