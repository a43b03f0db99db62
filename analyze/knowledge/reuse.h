// Whether a matrix product, convolution or attention reuses loaded data often enough to be compute-bound, judged by its
// name. The kind of kernel alone does not show its limiter: a product with eight rows reads all weights for them and is
// memory-bound.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/knowledge/kernel_class.h"

namespace gpuprof::inline knowledge {

enum class Reuse : std::uint8_t {
    unknown,  // depends on the batch: mixtures of experts, quantised weights, split-K, medium tiles
    low,      // a tile of at most 16 (tensor cores: 32) rows or columns, decoding attention, depthwise convolution
    high,     // everything else of these classes
};

// For kernels of class gemm, convolution and attention, and Inductor's matmul templates.
[[nodiscard]] Reuse reuse_of(const KernelTraits& traits, std::string_view name) noexcept;

}  // namespace gpuprof::knowledge
