// Roofline points of a kernel: the arithmetic it did per byte, at each level of memory and for each number format, and
// the roof above it. Formulas: FLOP = additions + multiplications + 2 x fused multiply-adds of threads that took part
// (FP16 instructions count pairs); tensor operations as counted. Ceilings are the peaks of the GPU at the clocks that
// were measured.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyze/facts/kernels/measured_kernels.h"

namespace gpuprof::inline kernels {

struct RooflinePoint {
    std::string_view precision;  // "FP32", "BF16 tensor", ...
    MemoryLevel level = MemoryLevel::dram;
    double flop_per_s = 0, bytes_per_s = 0;
    double flop_per_byte() const { return flop_per_s / bytes_per_s; }
    std::optional<double> peak_flop_per_s, peak_bytes_per_s;
    // What the roof allows at this intensity; absent without both peaks.
    std::optional<double> roof_flop_per_s() const;
};

// Operations of one precision on the arithmetic pipes; a fused multiply-add is two.
struct OperationCount {
    std::string_view precision;
    double operations;
};
std::vector<OperationCount> operation_counts(const MeasuredKernel& kernel);

// One point per format that the kernel used and level whose traffic was measured.
std::vector<RooflinePoint> roofline(const MeasuredKernel& kernel);

}  // namespace gpuprof::kernels
