#include "core/analyze/kernels/roofline.h"

#include <algorithm>

namespace gpuprof {
namespace {

using enum KernelMetric;
using Value = std::optional<double>;

Value product(Value a, Value b) { return a && b ? Value(*a * *b) : std::nullopt; }
Value quotient(Value a, Value b) { return a && b && *b > 0 ? Value(*a / *b) : std::nullopt; }
Value first_of(Value a, Value b) { return a ? a : b; }

Value seconds(const MeasuredKernel& kernel) { return quotient(kernel[duration], 1e9); }
Value clock_of(const MeasuredKernel& kernel) {
    return first_of(kernel[l1_hz], first_of(kernel[sm_hz], quotient(kernel[elapsed_cycles], seconds(kernel))));
}

// Of threads on the arithmetic pipes. `per_cycle` and `in_all` are what tools collect: rates, or sums.
struct Pipe {
    std::string_view precision;
    KernelMetric add, multiply, fused, add_sum, multiply_sum, fused_sum, fused_peak;
    double elements;  // per instruction of a thread
};
constexpr Pipe kPipes[] = {
    {"FP32", fadd, fmul, ffma, fadd_sum, fmul_sum, ffma_sum, fma_peak, 1},
    {"FP64", dadd, dmul, dfma, dadd_sum, dmul_sum, dfma_sum, dfma_peak, 1},
    {"FP16", hadd, hmul, hfma, hadd_sum, hmul_sum, hfma_sum, hfma_peak, 2},
};
// The peaks of these counters are those of products with sparse matrices, twice the dense ones, where a format has
// sparse products and the counter does not leave them out. (Of a recorded BF16 product, the rate over half the peak is
// 77.15 %, as are the active cycles of the tensor pipes.)
struct Tensor {
    std::string_view precision;
    KernelMetric operations, peak;
    double dense;
};
constexpr Tensor kTensors[] = {
    {"FP16 tensor", tensor_fp16, tensor_fp16_peak, 0.5}, {"BF16 tensor", tensor_bf16, tensor_bf16_peak, 0.5},
    {"TF32 tensor", tensor_tf32, tensor_tf32_peak, 0.5}, {"FP8 tensor", tensor_fp8, tensor_fp8_peak, 1},
    {"FP64 tensor", tensor_fp64, tensor_fp64_peak, 1},
};

struct Traffic {
    MemoryLevel level;
    Value rate, peak;
};

std::vector<Traffic> traffic(const MeasuredKernel& kernel) {
    Value dram =
        first_of(kernel[dram_rate], quotient(sum_of(kernel, dram_bytes_read, dram_bytes_written), seconds(kernel)));
    Value l2 = first_of(kernel[l2_rate], quotient(kernel[l2_bytes], seconds(kernel)));
    Value l1 = first_of(kernel[l1_rate], quotient(kernel[l1_bytes], seconds(kernel)));
    Value dram_roof =
        first_of(product(kernel[dram_peak], kernel[dram_hz]), product(quotient(dram, kernel[dram_pct]), 100));
    return {{MemoryLevel::dram, dram, dram_roof},
            {MemoryLevel::l2, l2, product(kernel[l2_peak], kernel[l2_hz])},
            {MemoryLevel::l1, l1, product(kernel[l1_peak], first_of(kernel[l1_hz], kernel[sm_hz]))}};
}

}  // namespace

std::optional<double> RooflinePoint::roof_flop_per_s() const {
    if (!peak_flop_per_s || !peak_bytes_per_s) return std::nullopt;
    return std::min(*peak_flop_per_s, *peak_bytes_per_s * flop_per_byte());
}

std::vector<RooflinePoint> roofline(const MeasuredKernel& kernel) {
    std::vector<RooflinePoint> points;
    std::vector<Traffic> levels = traffic(kernel);
    auto add = [&](std::string_view precision, Value flops, Value peak) {
        if (!flops || !(*flops > 0)) return;
        for (const Traffic& level : levels)
            if (level.rate && *level.rate > 0)
                points.push_back({precision, level.level, *flops, *level.rate, peak, level.peak});
    };
    for (const Pipe& pipe : kPipes) {
        Value fused = kernel[pipe.fused], others = sum_of(kernel, pipe.add, pipe.multiply);
        Value per_second = clock_of(kernel);
        if (!fused || !others) {
            fused = kernel[pipe.fused_sum], others = sum_of(kernel, pipe.add_sum, pipe.multiply_sum);
            per_second = quotient(1, seconds(kernel));
        }
        Value flops = fused && others ? product(pipe.elements * (*others + 2 * *fused), per_second) : std::nullopt;
        add(pipe.precision, flops, product(product(kernel[pipe.fused_peak], clock_of(kernel)), 2 * pipe.elements));
    }
    for (const Tensor& tensor : kTensors)
        add(tensor.precision, quotient(kernel[tensor.operations], seconds(kernel)),
            product(kernel[tensor.peak], tensor.dense));
    return points;
}

}  // namespace gpuprof
