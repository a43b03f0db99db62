// Whether a matrix product, convolution or attention uses what it loads often enough for arithmetic to limit it, as far as its name
// tells. What a kernel does does not say what limits it: a product of eight rows reads all weights for them, and waits for memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/analyze/knowledge/kernel_class.h"

namespace gpuprof {

enum class Reuse : std::uint8_t {
    unknown,  // the batch decides: mixtures of experts, quantised weights, split-K, tiles neither small nor large
    low,      // a tile of at most 16 (tensor cores: 32) rows or columns, decoding attention, depthwise convolution
    high,     // everything else of these classes
};

// Of kernels of class gemm, convolution and attention, and Inductor's matmul templates.
[[nodiscard]] Reuse reuse_of(const KernelTraits& traits, std::string_view name) noexcept;

}  // namespace gpuprof
