// An amount of FLOPs and moved bytes, as defined in op_arithmetic.h.
#pragma once

#include <optional>

#include "analyze/knowledge/math_type.h"

namespace gpuprof::inline knowledge {

struct Arithmetic {
    std::optional<double> flops = {};
    std::optional<double> bytes = {};
    MathType type = MathType::unknown;  // of the operands; fp32 may run as TF32, depending on the kernel (math_type.h)
    bool nominal = false;

    // FLOP per byte; absent if either is absent or no bytes are moved.
    [[nodiscard]] std::optional<double> intensity() const noexcept;
};

}  // namespace gpuprof::knowledge
