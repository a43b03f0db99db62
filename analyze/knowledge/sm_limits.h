// Resource limits of one streaming multiprocessor (SM) by compute capability, for theoretical occupancy.
//
// Known for NVIDIA 5.0 to 12.1. Everything else, including every AMD device, is unknown. AMD's HIP reports the digits
// of the gfx name as a compute capability (MI250 reports 9.0, the number of Hopper), so check vendor_of() before using
// one.
//
// Sources: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; cuda_occupancy.h of
// CUDA 12.9 and 13 (allocation units, sub-partitions, blocks and barriers per SM); CCCL <cuda/devices> arch_traits (reserved and
// opt-in shared memory). Checked against the device attributes that Nsight Compute recorded on an H200
// (tests/unit/knowledge).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::inline knowledge {

enum class GpuVendor : std::uint8_t { unknown, nvidia, amd };

// By the runtime's device name and by warp size (64 is AMD's wavefront; no NVIDIA device has it).
[[nodiscard]] GpuVendor vendor_of(std::string_view device_name, std::optional<int> warp_size) noexcept;

// Counts are per SM unless named otherwise; registers are 32-bit.
struct SmLimits {
    int warp_size = 32;
    int max_warps = 0;
    int max_blocks = 0;
    int max_threads_per_block = 1024;
    int registers = 65536;
    int max_registers_per_block = 65536;
    int max_registers_per_thread = 255;
    int register_unit = 256;  // registers are allocated to a warp in multiples of this
    int sub_partitions = 4;   // registers belong to one sub-partition; a warp cannot use another's
    std::int64_t shared_bytes = 0;
    std::int64_t max_shared_bytes_per_block = 0;       // with the opt-in attribute; otherwise 48 KiB
    std::int64_t reserved_shared_bytes_per_block = 0;  // reserved by the driver, not included in launch records
    int shared_unit = 128;                             // shared memory is allocated to a block in multiples of this
    int barriers = 0;                                  // named barriers of all blocks; 0: more than blocks can use
    int max_cluster_blocks = 1;                        // with the opt-in attribute; otherwise 8
};

// Absent for a capability that is not in the table; newer ones are never extrapolated.
[[nodiscard]] std::optional<SmLimits> sm_limits(int cc_major, int cc_minor) noexcept;

}  // namespace gpuprof::knowledge
