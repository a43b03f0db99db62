// The occupancy rules, one function per resource; each returns how many blocks that resource alone allows per SM.
#include "analyze/knowledge/occupancy.h"

#include <algorithm>
#include <cmath>

#include "analyze/knowledge/sm_limits.h"

namespace gpuprof::inline knowledge {
namespace {

constexpr std::int64_t kMaxThreads = 1 << 20;  // far above any device; keeps the products below exact

template <typename T>
T round_up(T value, T unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

SmLimits with_overrides(SmLimits limits, const DeviceLimits& device) noexcept {
    if (device.max_threads_per_sm) limits.max_warps = *device.max_threads_per_sm / limits.warp_size;
    if (device.max_threads_per_block) limits.max_threads_per_block = *device.max_threads_per_block;
    if (device.registers_per_sm) limits.registers = *device.registers_per_sm;
    if (device.registers_per_block) limits.max_registers_per_block = *device.registers_per_block;
    if (device.shared_bytes_per_sm) limits.shared_bytes = *device.shared_bytes_per_sm;
    if (device.shared_bytes_per_block_optin) limits.max_shared_bytes_per_block = *device.shared_bytes_per_block_optin;
    return limits;
}

// Registers are allocated to warps in units, and a warp's registers are in one sub-partition. The per-block check
// assumes a warp in every sub-partition, as the hardware does (cuda_occupancy.h, "Hardware check").
std::optional<int> blocks_by_registers(const SmLimits& limits, int registers_per_thread, int warps_per_block) noexcept {
    if (registers_per_thread <= 0) return std::nullopt;
    if (registers_per_thread > limits.max_registers_per_thread) return 0;
    const int per_warp = round_up(registers_per_thread * limits.warp_size, limits.register_unit);
    const std::int64_t assumed = std::int64_t{per_warp} * round_up(warps_per_block, limits.sub_partitions);
    if (assumed > limits.max_registers_per_block) return 0;
    const int warps_per_sub_partition = limits.registers / limits.sub_partitions / per_warp;
    return warps_per_sub_partition * limits.sub_partitions / warps_per_block;
}

std::optional<int> blocks_by_shared(const SmLimits& limits, std::int64_t launch_bytes,
                                    std::optional<std::int64_t> config_bytes) noexcept {
    if (launch_bytes > limits.max_shared_bytes_per_block) return 0;
    const std::int64_t used = launch_bytes + limits.reserved_shared_bytes_per_block;
    const std::int64_t per_block = round_up(used, std::int64_t{limits.shared_unit});
    if (per_block == 0) return std::nullopt;
    const std::int64_t available = config_bytes ? std::min(*config_bytes, limits.shared_bytes) : limits.shared_bytes;
    return static_cast<int>(std::min(available / per_block, kMaxThreads));
}

// At most one block slot each, as Nsight Compute counts.
std::optional<int> blocks_by_barriers(const SmLimits& limits, std::optional<int> barriers) noexcept {
    if (!barriers || *barriers <= 0 || limits.barriers == 0) return std::nullopt;
    return std::min(limits.barriers / *barriers, limits.max_blocks);
}

void choose_limiter(Occupancy& result, int max_warps) noexcept {
    struct Candidate {
        Limiter limiter;
        std::optional<int> blocks;
    };
    const Candidate candidates[] = {{Limiter::registers, result.limit_registers},
                                    {Limiter::shared_memory, result.limit_shared},
                                    {Limiter::barriers, result.limit_barriers},
                                    {Limiter::blocks, result.limit_blocks},
                                    {Limiter::warps, result.limit_warps}};
    int fewest = result.limit_warps;
    for (const Candidate& candidate : candidates) {
        if (candidate.blocks) fewest = std::min(fewest, *candidate.blocks);
    }
    result.blocks_per_sm = fewest;
    result.pct = 100.0 * fewest * result.warps_per_block / max_warps;
    if (fewest == 0) {
        result.limiter = Limiter::block_too_large;
        return;
    }
    if (fewest * result.warps_per_block == max_warps) return;
    for (const Candidate& candidate : candidates) {
        if (candidate.blocks == fewest) {
            result.limiter = candidate.limiter;
            return;
        }
    }
}

void place_clusters(Occupancy& result, const SmLimits& limits, int cluster_blocks, std::optional<int> sms) noexcept {
    if (cluster_blocks <= 1 || result.blocks_per_sm == 0) return;
    if (cluster_blocks > limits.max_cluster_blocks) {
        result.pct = 0;
        result.blocks_per_sm = 0;
        result.limiter = Limiter::cluster_too_large;
    } else if (sms) {
        result.max_clusters = std::int64_t{*sms} * result.blocks_per_sm / cluster_blocks;
    }
}

bool plausible(const SmLimits& limits) noexcept {
    return limits.warp_size > 0 && limits.max_warps > 0 && limits.registers > 0 && limits.shared_bytes > 0;
}

}  // namespace

std::optional<SmLimits> limits_of(const DeviceLimits& device) noexcept {
    if (vendor_of(device.name, device.warp_size) == GpuVendor::amd) return std::nullopt;
    const std::optional<SmLimits> table = sm_limits(device.cc_major, device.cc_minor);
    if (!table) return std::nullopt;
    const SmLimits limits = with_overrides(*table, device);
    return plausible(limits) ? std::optional(limits) : std::nullopt;
}

std::optional<Occupancy> theoretical_occupancy(const LaunchShape& shape, const DeviceLimits& device) noexcept {
    const std::optional<SmLimits> known = limits_of(device);
    if (!known || !shape.registers_per_thread || !shape.shared_bytes) return std::nullopt;
    if (shape.block_x <= 0 || shape.block_y <= 0 || shape.block_z <= 0 || *shape.shared_bytes < 0) return std::nullopt;
    const SmLimits& limits = *known;

    Occupancy result;
    result.limit_blocks = limits.max_blocks;
    const bool huge = shape.block_x > kMaxThreads || shape.block_y > kMaxThreads || shape.block_z > kMaxThreads;
    const std::int64_t plane = std::int64_t{shape.block_x} * shape.block_y;
    if (huge || plane > limits.max_threads_per_block || plane * shape.block_z > limits.max_threads_per_block) {
        result.limiter = Limiter::block_too_large;
        return result;
    }
    const int threads = static_cast<int>(plane * shape.block_z);
    result.warps_per_block = round_up(threads, limits.warp_size) / limits.warp_size;
    result.limit_warps = limits.max_warps / result.warps_per_block;
    result.limit_registers = blocks_by_registers(limits, *shape.registers_per_thread, result.warps_per_block);
    result.limit_shared = blocks_by_shared(limits, *shape.shared_bytes, device.shared_config_bytes);
    result.limit_barriers = blocks_by_barriers(limits, shape.barriers);
    choose_limiter(result, limits.max_warps);
    place_clusters(result, limits, shape.cluster_blocks.value_or(1), device.num_sms);
    return result;
}

std::optional<LaunchFill> launch_fill(std::int64_t grid_blocks, int blocks_per_sm, int num_sms) noexcept {
    if (grid_blocks <= 0 || blocks_per_sm <= 0 || num_sms <= 0) return std::nullopt;
    LaunchFill fill;
    fill.waves = static_cast<double>(grid_blocks) / (static_cast<double>(blocks_per_sm) * num_sms);
    fill.fill_ratio = std::min(1.0, fill.waves);
    fill.tail_efficiency = fill.waves / std::ceil(fill.waves);
    fill.fewer_blocks_than_sms = grid_blocks < num_sms;
    return fill;
}

std::string_view to_string(Limiter limiter) noexcept {
    switch (limiter) {
        case Limiter::none: return "";
        case Limiter::warps: return "warps";
        case Limiter::blocks: return "blocks";
        case Limiter::registers: return "registers";
        case Limiter::shared_memory: return "shared memory";
        case Limiter::barriers: return "barriers";
        case Limiter::block_too_large: return "block too large";
        case Limiter::cluster_too_large: return "cluster too large";
    }
    return "";
}

}  // namespace gpuprof::knowledge
