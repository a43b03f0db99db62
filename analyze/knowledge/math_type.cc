// Names of the math formats, as printed in tables; the order is that of the enumerations and nothing else may depend on
// it.
#include "analyze/knowledge/math_type.h"

namespace gpuprof::inline knowledge {

std::string_view to_string(MathType type) noexcept {
    switch (type) {
        case MathType::unknown: return "unknown";
        case MathType::fp64: return "fp64";
        case MathType::fp32: return "fp32";
        case MathType::tf32: return "tf32";
        case MathType::fp16: return "fp16";
        case MathType::bf16: return "bf16";
        case MathType::fp16_or_bf16: return "fp16_or_bf16";
        case MathType::fp8: return "fp8";
        case MathType::fp4: return "fp4";
        case MathType::int8: return "int8";
    }
    return "unknown";
}

std::string_view to_string(MathUnit unit) noexcept {
    switch (unit) {
        case MathUnit::unknown: return "unknown";
        case MathUnit::simt: return "simt";
        case MathUnit::tensor: return "tensor";
    }
    return "unknown";
}

}  // namespace gpuprof::knowledge
