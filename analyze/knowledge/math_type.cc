// Names of the math formats, as printed in tables; the order is that of the enumerations and nothing else may depend on
// it.
#include "analyze/knowledge/math_type.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/text/ascii.h"

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

// One parser per naming scheme, tried in order; the first that recognises its scheme decides.
namespace {

struct TypeName {
    std::string_view spelling;
    MathType type;
};

// If one spelling is a suffix of another, the longer one comes first: bf16 before f16.
constexpr std::array kTypeNames{
    TypeName{"tf32", MathType::tf32}, TypeName{"bf16", MathType::bf16},   TypeName{"f32", MathType::fp32},
    TypeName{"f64", MathType::fp64},  TypeName{"f16", MathType::fp16},    TypeName{"e4m3", MathType::fp8},
    TypeName{"e5m2", MathType::fp8},  TypeName{"i8", MathType::int8},     TypeName{"s8", MathType::int8},
    TypeName{"u8", MathType::int8},   TypeName{"i32", MathType::unknown}, TypeName{"e2m1", MathType::fp4},
};

std::optional<TypeName> leading_type(std::string_view text) noexcept {
    for (const TypeName& name : kTypeNames) {
        if (text.starts_with(name.spelling)) return name;
    }
    return std::nullopt;
}

// The first type of a token that consists of exactly two types, such as tf32f32.
std::optional<MathType> first_of_pair(std::string_view token) noexcept {
    const auto first = leading_type(token);
    if (!first) return std::nullopt;
    const std::string_view rest = token.substr(first->spelling.size());
    const auto second = leading_type(rest);
    if (!second || second->spelling.size() != rest.size()) return std::nullopt;
    return first->type;
}

MathPath of_xmma(std::string_view name) noexcept {
    int pairs = 0;
    MathType multiply = MathType::unknown;
    for (std::size_t at = 0; at < name.size() && pairs < 2;) {
        const std::size_t next = std::min(name.find('_', at), name.size());
        if (const auto type = first_of_pair(name.substr(at, next - at))) {
            multiply = *type;
            ++pairs;
        }
        at = next + 1;
    }
    if (pairs < 2) return {};
    const bool mma = contains(name, "_tensor");
    if (multiply == MathType::fp32)
        return mma ? MathPath{MathUnit::tensor, MathType::tf32} : MathPath{MathUnit::simt, MathType::fp32};
    if (multiply == MathType::fp64) return {mma ? MathUnit::tensor : MathUnit::simt, MathType::fp64};
    return {multiply == MathType::unknown ? MathUnit::unknown : MathUnit::tensor, multiply};
}

// cuBLASLt's nvjet kernels exist for Hopper and later and multiply on tensor cores only.
MathPath of_nvjet(std::string_view name) noexcept {
    std::string_view rest = name.substr(name.find("nvjet") + 5);
    if (rest.starts_with("_sm")) rest = rest.substr(std::min(rest.find('_', 1), rest.size()));
    MathPath path{MathUnit::tensor, MathType::unknown};
    if (rest.size() < 2) return path;
    switch (rest[1]) {
        case 't': path.type = MathType::bf16; break;
        case 'h': path.type = MathType::fp16; break;
        case 'q': path.type = MathType::fp8; break;
        default: break;
    }
    return path;
}

// {s,h,d,i}{mma shape}: a letter that starts a word, then the digits of a known shape.
struct MmaShape {
    char accumulator;
    std::string_view digits;
};

std::optional<MmaShape> find_mma(std::string_view name) noexcept {
    for (std::size_t at = 0; at + 1 < name.size(); ++at) {
        const bool starts = at == 0 || !is_alphanumeric(name[at - 1]);
        if (!starts || std::string_view("shdi").find(name[at]) == std::string_view::npos) continue;
        std::size_t end = at + 1;
        while (end < name.size() && is_digit(name[end])) ++end;
        const std::string_view digits = name.substr(at + 1, end - at - 1);
        for (std::string_view shape : {"884", "1688", "16816", "16832", "8816", "8832", "161616", "16864"}) {
            if (digits == shape && end < name.size() && is_letter(name[end])) return MmaShape{name[at], digits};
        }
    }
    return std::nullopt;
}

// A type word anywhere in a library name; fp16 and f16 are equivalent.
MathType type_word(std::string_view name) noexcept {
    if (contains(name, "tf32") || contains(name, "tfloat32_t")) return MathType::tf32;
    if (contains(name, "bf16") || contains(name, "bfloat16")) return MathType::bf16;
    if (contains(name, "e4m3") || contains(name, "e5m2") || contains(name, "E4M3") || contains(name, "E5M2"))
        return MathType::fp8;
    if (contains(name, "f16") || contains(name, "fp16") || contains(name, "half_t")) return MathType::fp16;
    if (contains(name, "int8") || contains(name, "_s8") || contains(name, "_u8") || contains(name, "_i8"))
        return MathType::int8;
    return MathType::unknown;
}

MathPath of_mma(std::string_view name, const MmaShape& mma) noexcept {
    MathPath path{MathUnit::tensor, type_word(name)};
    if (mma.accumulator == 'd') path.type = MathType::fp64;
    if (mma.accumulator == 'i' && path.type == MathType::unknown) path.type = MathType::int8;
    if (path.type != MathType::unknown) return path;
    if (mma.accumulator == 'h' || mma.digits == "884") path.type = MathType::fp16;
    // m16n8k8 with FP32 accumulation takes TF32 (8.0 and later) or FP16 (7.5); FP16 is spelled out, and cutlass_75 has
    // no other type.
    if (mma.accumulator == 's' && mma.digits == "1688")
        path.type = contains(name, "cutlass_75") ? MathType::fp16 : MathType::tf32;
    if (mma.accumulator == 's' && mma.digits == "16816") path.type = MathType::fp16_or_bf16;
    return path;
}

// BLAS type letters before gemm and cudnn: s, d, h, c (complex FP32), z (complex FP64).
std::optional<MathPath> of_simt(std::string_view name) noexcept {
    struct SimtToken {
        std::string_view part;
        MathType type;
    };
    constexpr std::array kWords{SimtToken{"sgemm", MathType::fp32}, SimtToken{"dgemm", MathType::fp64},
                                SimtToken{"hgemm", MathType::fp16}, SimtToken{"cgemm", MathType::fp32},
                                SimtToken{"zgemm", MathType::fp64}, SimtToken{"scudnn", MathType::fp32},
                                SimtToken{"hcudnn", MathType::fp16}};
    for (const SimtToken& word : kWords) {
        if (contains(name, word.part)) return MathPath{MathUnit::simt, word.type};
    }
    return std::nullopt;
}

// CUDA-core kernels whose first template argument is their type.
std::optional<MathPath> of_simt_template(std::string_view name) noexcept {
    for (std::string_view part : {"gemv", "gemmk1", "gemmSN_", "wgrad_alg", "dgrad_alg", "dgrad_engine",
                                  "_direct_kernel", "fft2d_", "fft1d_", "winograd_nonfused", "conv_depthwise"}) {
        const std::size_t at = name.find(part);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = name.substr(at);
        const std::size_t single = std::min(rest.find("float"), rest.find("If"));
        const std::size_t twice = std::min(rest.find("double"), rest.find("Id"));
        if (single == twice) return MathPath{MathUnit::simt, MathType::unknown};
        return MathPath{MathUnit::simt, single < twice ? MathType::fp32 : MathType::fp64};
    }
    return std::nullopt;
}

// Tensile: Cijk_Ailk_Bjlk_{types}_...; MI in the name gives the shape of the matrix instruction.
MathPath of_tensile(std::string_view name) noexcept {
    std::size_t at = name.find("Cijk_");
    for (int i = 0; i < 3 && at != std::string_view::npos; ++i) at = name.find('_', at + 1);
    if (at == std::string_view::npos) return {};
    const std::size_t mi = name.find("_MI");
    const bool mfma = mi != std::string_view::npos && mi + 3 < name.size() && is_digit(name[mi + 3]);
    MathPath path{mfma ? MathUnit::tensor : MathUnit::simt, MathType::unknown};
    const std::string_view types = name.substr(at + 1);
    if (types.starts_with("F8") || types.starts_with("B8"))
        path.type = MathType::fp8;
    else if (types.starts_with("I8"))
        path.type = MathType::int8;
    else if (types.starts_with('S'))
        path.type = MathType::fp32;
    else if (types.starts_with('D'))
        path.type = MathType::fp64;
    else if (types.starts_with('H'))
        path.type = MathType::fp16;
    else if (types.starts_with('B'))
        path.type = MathType::bf16;
    return path;
}

// CUTLASS 3 and CuTe templates, flash attention, cuDNN's generated kernels.
MathPath of_templates(std::string_view name) noexcept {
    // "wgmma_f16" in cuDNN's generated attention means the operand width: it also occurs with bfloat16 tensors.
    if (contains(name, "cudnn_generated")) {
        return contains(name, "_f16") ? MathPath{MathUnit::tensor, MathType::fp16_or_bf16} : MathPath{};
    }
    const bool tensor = contains(name, "TensorOp") || contains(name, "tensorop") || contains(name, "wgmma") ||
                        contains(name, "WGMMA") || contains(name, "flash_fwd_kernel") || contains(name, "flash_bwd_") ||
                        contains(name, "FlashAttn") || contains(name, "fmha_cutlass") || contains(name, "SM90_") ||
                        contains(name, "SM100_");
    if (!tensor) return {};
    MathType type = type_word(name);
    if (type == MathType::unknown && contains(name, "BF16BF16")) type = MathType::bf16;
    if (type == MathType::unknown && contains(name, "TF32TF32")) type = MathType::tf32;
    if (type == MathType::unknown && contains(name, "F16F16")) type = MathType::fp16;
    return {MathUnit::tensor, type};
}

}  // namespace

MathPath math_path(std::string_view kernel_name) noexcept {
    // Split-K sums, offset tables and workspace fills belong to a GEMM or convolution but multiply nothing.
    for (std::string_view helper :
         {"splitKreduce", "ReduceSplitK", "computeOffsets", "init_device_workspace", "reduce_wgrad"}) {
        if (contains(kernel_name, helper)) return {};
    }
    if (contains(kernel_name, "nvjet")) return of_nvjet(kernel_name);
    if (contains(kernel_name, "xmma_")) return of_xmma(kernel_name);
    if (contains(kernel_name, "Cijk_")) return of_tensile(kernel_name);
    if (const auto mma = find_mma(kernel_name)) return of_mma(kernel_name, *mma);
    if (const auto simt = of_simt(kernel_name)) return *simt;
    if (const auto simt = of_simt_template(kernel_name)) return *simt;
    return of_templates(kernel_name);
}

}  // namespace gpuprof::knowledge
