// How well the global memory accesses of a kernel use the sectors of 32 bytes that they move.
#pragma once

#include <optional>

#include "analyze/facts/kernels/measured_kernels.h"

namespace gpuprof::inline facts {

// Loads or stores.
struct AccessKind {
    double sectors = 0;
    double sectors_per_request = 0;          // of a warp: 4 for neighbouring 4-byte elements, up to 32
    std::optional<double> bytes_per_sector;  // used, of 32
    // Sectors that the same bytes would not need if threads of a warp accessed neighbouring elements. Several threads
    // that read the same bytes need one sector, which is no excess.
    std::optional<double> excess_pct;
};

struct AccessPattern {
    std::optional<AccessKind> loads, stores;
    // Of all global sectors; counted by instruction where that was collected, otherwise from the means of both kinds.
    std::optional<double> excess_pct;
};

AccessPattern access_pattern(const MeasuredKernel& kernel);

}  // namespace gpuprof::facts
