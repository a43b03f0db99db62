#include "analyze/facts/kernels/access_pattern.h"

#include <algorithm>

namespace gpuprof::inline facts {
namespace {

using enum KernelMetric;

constexpr double kSectorBytes = 32;
// A warp that accesses neighbouring 4-byte elements needs this many; at or below it, an access is not scattered.
constexpr double kCoalescedSectors = 4;

std::optional<AccessKind> kind_of(const MeasuredKernel& kernel, KernelMetric sectors, KernelMetric requests,
                                  KernelMetric bytes) {
    std::optional<double> moved = kernel[sectors], asked = kernel[requests];
    if (!moved || !asked || !(*asked > 0)) return std::nullopt;
    AccessKind kind{
        .sectors = *moved, .sectors_per_request = *moved / *asked, .bytes_per_sector = kernel[bytes], .excess_pct = {}};
    if (!kind.bytes_per_sector) return kind;
    double needed = std::max(1.0, *kind.bytes_per_sector * kind.sectors_per_request / kSectorBytes);
    kind.excess_pct = kind.sectors_per_request <= kCoalescedSectors + 0.01
                          ? 0
                          : std::max(0.0, 100 * (1 - needed / kind.sectors_per_request));
    return kind;
}

}  // namespace

AccessPattern access_pattern(const MeasuredKernel& kernel) {
    AccessPattern pattern{kind_of(kernel, l1_load_sectors, l1_load_requests, load_bytes_per_sector),
                          kind_of(kernel, l1_store_sectors, l1_store_requests, store_bytes_per_sector),
                          {}};
    std::optional<double> all = kernel[global_sectors], excess = kernel[excess_sectors];
    if (all && excess && *all > 0) {
        pattern.excess_pct = std::clamp(100 * *excess / *all, 0.0, 100.0);
        return pattern;
    }
    double sectors = 0, too_many = 0;
    for (const std::optional<AccessKind>& kind : {pattern.loads, pattern.stores}) {
        if (!kind) continue;
        if (!kind->excess_pct) return pattern;
        sectors += kind->sectors, too_many += kind->sectors * *kind->excess_pct;
    }
    if (sectors > 0) pattern.excess_pct = too_many / sectors;
    return pattern;
}

}  // namespace gpuprof::facts
