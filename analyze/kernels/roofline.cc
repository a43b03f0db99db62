#include "analyze/kernels/roofline.h"

#include <algorithm>

namespace gpuprof::inline kernels {
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
    KernelMetric operations, peak_per_second, peak_per_cycle;
    double dense;
};
constexpr Tensor kTensors[] = {
    {"FP16 tensor", tensor_fp16, tensor_fp16_peak, tensor_fp16_cycle, 0.5},
    {"BF16 tensor", tensor_bf16, tensor_bf16_peak, tensor_bf16_cycle, 0.5},
    {"TF32 tensor", tensor_tf32, tensor_tf32_peak, tensor_tf32_cycle, 0.5},
    {"FP8 tensor", tensor_fp8, tensor_fp8_peak, tensor_fp8_cycle, 1},
    {"FP64 tensor", tensor_fp64, tensor_fp64_peak, tensor_fp64_cycle, 1},
};

struct Traffic {
    MemoryLevel level;
    Value rate, peak;
};

// Each level by the counter that was collected, with the peak of that counter.
std::vector<Traffic> traffic(const MeasuredKernel& kernel) {
    Value s = seconds(kernel);
    Value dram =
        first_of(kernel[dram_rate],
                 quotient(first_of(kernel[dram_bytes], sum_of(kernel, dram_bytes_read, dram_bytes_written)), s));
    Value dram_roof =
        first_of(product(kernel[dram_peak], kernel[dram_hz]), product(quotient(dram, kernel[dram_pct]), 100));
    Traffic l2{MemoryLevel::l2, kernel[l2_rate], product(kernel[l2_peak], kernel[l2_hz])};
    if (!l2.rate) l2 = {MemoryLevel::l2, quotient(kernel[l2_bytes], s), product(kernel[l2_bytes_peak], kernel[l2_hz])};
    Traffic l1{MemoryLevel::l1, kernel[l1_rate], product(kernel[l1_peak], clock_of(kernel))};
    if (!l1.rate)
        l1 = {MemoryLevel::l1, quotient(kernel[l1_bytes], s), product(kernel[l1_bytes_peak], clock_of(kernel))};
    return {{MemoryLevel::dram, dram, dram_roof}, l2, l1};
}

// Compilers load constants with the FP16 multiply-add (HFMA2.MMA): once or twice per thread, or with FP32 work. Recorded
// copies and FP32 products have exactly one per thread.
constexpr double kConstantsPerThread = 2, kConstantsWithFp32 = 0.05;

bool only_loads_constants(const MeasuredKernel& kernel, Value fused, Value others, Value per_second) {
    if (!fused || !others || *others > 0) return false;
    Value in_all = product(product(fused, per_second), seconds(kernel));
    Value per_thread = quotient(in_all, product(kernel[grid_size], kernel[block_size]));
    if (per_thread && *per_thread <= kConstantsPerThread) return true;
    Value fp32 = first_of(kernel[ffma], kernel[ffma_sum]);
    return fp32 && *fused <= kConstantsWithFp32 * *fp32;
}

}  // namespace

std::optional<double> RooflinePoint::roof_flop_per_s() const {
    if (!peak_flop_per_s || !peak_bytes_per_s) return std::nullopt;
    return std::min(*peak_flop_per_s, *peak_bytes_per_s * flop_per_byte());
}

std::vector<OperationCount> operation_counts(const MeasuredKernel& kernel) {
    std::vector<OperationCount> counts;
    for (const Pipe& pipe : kPipes) {
        Value fused = kernel[pipe.fused_sum], others = sum_of(kernel, pipe.add_sum, pipe.multiply_sum);
        if (fused && others && *others + *fused > 0)
            counts.push_back({pipe.precision, pipe.elements * (*others + 2 * *fused)});
    }
    return counts;
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
            fused = kernel[pipe.fused_sum];
            others = sum_of(kernel, pipe.add_sum, pipe.multiply_sum);
            per_second = quotient(1, seconds(kernel));
        }
        if (pipe.fused == hfma && only_loads_constants(kernel, fused, others, per_second)) continue;
        Value flops = fused && others ? product(pipe.elements * (*others + 2 * *fused), per_second) : std::nullopt;
        add(pipe.precision, flops, product(product(kernel[pipe.fused_peak], clock_of(kernel)), 2 * pipe.elements));
    }
    for (const Tensor& tensor : kTensors)
        add(tensor.precision, quotient(kernel[tensor.operations], seconds(kernel)),
            product(first_of(kernel[tensor.peak_per_second], product(kernel[tensor.peak_per_cycle], clock_of(kernel))),
                    tensor.dense));
    return points;
}

}  // namespace gpuprof::kernels
