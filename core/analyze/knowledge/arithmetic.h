// An amount of arithmetic and of moved bytes; see op_arithmetic.h for what each counts.
#pragma once

#include <optional>

#include "core/analyze/knowledge/math_type.h"

namespace gpuprof {

struct Arithmetic {
    std::optional<double> flops = {};
    std::optional<double> bytes = {};
    MathType type = MathType::unknown;  // of the operands; fp32 may run as TF32, the kernel's name tells (math_path.h)
    bool nominal = false;

    // FLOP per byte; absent when either is, or nothing is moved.
    [[nodiscard]] std::optional<double> intensity() const noexcept;
};

}  // namespace gpuprof
