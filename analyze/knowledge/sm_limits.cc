// The table of SM limits. A row lists only differences; common constants (warps of 32, 64 Ki registers, blocks of 1024
// threads) are the defaults of SmLimits. Shared memory is in KiB here, as in the sources named in the header.
#include "analyze/knowledge/sm_limits.h"

#include <array>

#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

struct Row {
    int cc_major;
    int cc_minor;
    int max_warps;
    int max_blocks;
    int shared_kib;
    int shared_per_block_kib;
};

constexpr std::array kRows{
    Row{5, 0, 64, 32, 64, 48},    Row{5, 2, 64, 32, 96, 48},    Row{5, 3, 64, 32, 64, 48},
    Row{6, 0, 64, 32, 64, 48},    Row{6, 1, 64, 32, 96, 48},    Row{6, 2, 64, 32, 64, 48},
    Row{7, 0, 64, 32, 96, 96},    Row{7, 2, 64, 32, 96, 96},    Row{7, 5, 32, 16, 64, 64},
    Row{8, 0, 64, 32, 164, 163},  Row{8, 6, 48, 16, 100, 99},   Row{8, 7, 48, 16, 164, 163},
    Row{8, 8, 48, 16, 100, 99},   Row{8, 9, 48, 24, 100, 99},   Row{9, 0, 64, 32, 228, 227},
    Row{10, 0, 64, 32, 228, 227}, Row{10, 1, 48, 24, 228, 227}, Row{10, 3, 64, 32, 228, 227},
    Row{11, 0, 48, 24, 228, 227}, Row{12, 0, 48, 24, 100, 99},  Row{12, 1, 48, 24, 100, 99},
};

constexpr std::int64_t kKib = 1024;

SmLimits expand(const Row& row) noexcept {
    SmLimits limits;
    limits.max_warps = row.max_warps;
    limits.max_blocks = row.max_blocks;
    limits.shared_bytes = row.shared_kib * kKib;
    limits.max_shared_bytes_per_block = row.shared_per_block_kib * kKib;
    limits.reserved_shared_bytes_per_block = row.cc_major >= 8 ? kKib : 0;
    limits.shared_unit = row.cc_major >= 8 ? 128 : 256;
    limits.sub_partitions = row.cc_major == 6 && row.cc_minor == 0 ? 2 : 4;
    // Since Hopper; the server parts have two for each block slot.
    const bool twice = row.cc_major == 9 || (row.cc_major == 10 && row.cc_minor == 0);
    if (row.cc_major >= 9) limits.barriers = twice ? 2 * row.max_blocks : row.max_blocks;
    if (row.cc_major >= 9) limits.max_cluster_blocks = 16;
    // On the Tegra parts of Maxwell and Pascal, one block can use half of the register file.
    const bool half_block = (row.cc_major == 5 && row.cc_minor == 3) || (row.cc_major == 6 && row.cc_minor == 2);
    if (half_block) limits.max_registers_per_block = 32768;
    return limits;
}

}  // namespace

GpuVendor vendor_of(std::string_view device_name, std::optional<int> warp_size) noexcept {
    for (std::string_view part : {"AMD", "Radeon", "Instinct", "gfx"}) {
        if (contains(device_name, part)) return GpuVendor::amd;
    }
    if (warp_size == 64) return GpuVendor::amd;
    for (std::string_view part : {"NVIDIA", "Tesla", "GeForce", "Quadro", "RTX", "TITAN"}) {
        if (contains(device_name, part)) return GpuVendor::nvidia;
    }
    return GpuVendor::unknown;
}

std::optional<SmLimits> sm_limits(int cc_major, int cc_minor) noexcept {
    for (const Row& row : kRows) {
        if (row.cc_major == cc_major && row.cc_minor == cc_minor) return expand(row);
    }
    return std::nullopt;
}

}  // namespace gpuprof::knowledge
