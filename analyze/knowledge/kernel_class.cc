// Classifies collectives and Inductor kernels by prefix, everything else by the ordered list of kernel_rules.def.
#include "analyze/knowledge/kernel_class.h"

#include <algorithm>
#include <charconv>

#include "analyze/knowledge/math_type.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

struct Rule {
    std::string_view part;
    KernelClass kind;
};

constexpr Rule kRules[] = {
#define KERNEL_NAME_PATTERN(part, kind) {part, KernelClass::kind},
#include "analyze/knowledge/kernel_rules.def"
#undef KERNEL_NAME_PATTERN
};

// FBGEMM is a library of embedding and quantisation kernels; its namespace does not indicate a GEMM.
bool names(std::string_view name, std::string_view part) noexcept {
    for (std::size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
        if (!name.substr(0, at).ends_with("fb")) return true;
    }
    return false;
}

KernelClass class_by_rules(std::string_view name) noexcept {
    for (const Rule& rule : kRules) {
        if (names(name, rule.part)) return rule.kind;
    }
    return KernelClass::other;
}

// Inductor's prefixes (torch/_inductor/codegen/triton.py): triton_poi_, triton_red_, triton_per_, triton_for_,
// triton_tem_.
TritonKind triton_kind(std::string_view name) noexcept {
    const std::string_view rest = name.substr(std::string_view("triton_").size());
    if (rest.starts_with("poi")) return TritonKind::pointwise;
    if (rest.starts_with("red")) return TritonKind::reduction;
    if (rest.starts_with("per")) return TritonKind::persistent_reduction;
    if (rest.starts_with("for")) return TritonKind::foreach;
    if (rest.starts_with("tem") || rest.starts_with("mm") || rest.starts_with("bmm"))
        return TritonKind::matmul_template;
    return TritonKind::other;
}

ConvAlgorithm conv_algorithm(std::string_view name) noexcept {
    if (contains(name, "winograd") || contains(name, "Winograd")) return ConvAlgorithm::winograd;
    if (contains(name, "fft") || contains(name, "flip_filter")) return ConvAlgorithm::fft;
    if (contains(name, "depthwise") || contains(name, "Depthwise")) return ConvAlgorithm::depthwise;
    if (contains(name, "im2col") || contains(name, "col2im") || contains(name, "explicit_convolve"))
        return ConvAlgorithm::explicit_gemm;
    for (std::string_view part : {"_alg0_engine", "_alg1_engine", "dgrad_engine", "_direct_kernel", "naive_conv"}) {
        if (contains(name, part)) return ConvAlgorithm::direct;
    }
    // cuDNN's and CUTLASS's tensor and SIMT convolutions are implicit GEMMs, even if the name does not say so.
    for (std::string_view part : {"implicit", "ImplicitGemm", "cutlass", "cudnn_", "cudnn", "igemm", "xmma"}) {
        if (contains(name, part)) return ConvAlgorithm::implicit_gemm;
    }
    return ConvAlgorithm::none;
}

// elementwise_kernel<...> uses offset calculators; the vectorized_ and unrolled_ forms have contiguous operands.
bool is_strided(std::string_view name) noexcept {
    const std::size_t at = name.find("elementwise_kernel");
    if (at == std::string_view::npos) return false;
    const std::string_view before = name.substr(0, at);
    if (before.ends_with("vectorized_") || before.ends_with("unrolled_")) return false;
    return !before.ends_with("_") && !name.substr(at).starts_with("elementwise_kernel_with_index");
}

// PyTorch's copies from one type to another; a copy within a type has no cast in its name.
bool is_cast(std::string_view name) noexcept {
    for (std::string_view part : {"bfloat16_copy_kernel", "float16_copy_kernel", "float8_copy_kernel"})
        if (contains(name, part)) return true;
    return contains(name, "direct_copy_kernel") && (contains(name, "LoadWithCast") || contains(name, "StoreWithCast"));
}

bool has_math(KernelClass kind) noexcept {
    return kind == KernelClass::gemm || kind == KernelClass::gemv || kind == KernelClass::convolution ||
           kind == KernelClass::attention;
}

// The number after the first `prefix` that a number follows; 0 if there is none.
int number_after(std::string_view name, std::string_view prefix) noexcept {
    for (std::size_t at = name.find(prefix); at != std::string_view::npos; at = name.find(prefix, at + 1)) {
        std::string_view rest = name.substr(at + prefix.size());
        int number = 0;
        const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (failed == std::errc() && number > 0) return number;
    }
    return 0;
}

int architecture_of(std::string_view name) noexcept {
    for (std::string_view prefix : {"cutlass_", "sm"})
        if (const int number = number_after(name, prefix); number >= 50 && number < 1000) return number;
    if (contains(name, "volta_")) return 70;
    if (contains(name, "turing_")) return 75;
    return contains(name, "ampere_") ? 80 : 0;
}

// Only the start of a name is searched: demangled templates can be thousands of bytes long, hostile names millions.
constexpr std::size_t kNameLength = 16 * 1024;

}  // namespace

KernelTraits classify_kernel(std::string_view name) noexcept {
    name = name.substr(0, kNameLength);
    KernelTraits traits;
    traits.collective = parse_collective(name);
    if (traits.collective) {
        traits.kind = KernelClass::collective;
        return traits;
    }
    if (name.starts_with("triton_")) {
        traits.kind = KernelClass::triton;
        traits.triton_kind = triton_kind(name);
        return traits;
    }
    traits.kind = class_by_rules(name);
    traits.strided = is_strided(name);
    traits.cast = traits.kind == KernelClass::copy_cast && is_cast(name);
    if (has_math(traits.kind)) traits.math = math_path(name);
    if (is_matrix_product(traits) && traits.math.unit == MathUnit::tensor) {
        traits.alignment = number_after(name, "_align");
        traits.architecture = architecture_of(name);
    }
    if (traits.kind == KernelClass::convolution) traits.conv = conv_algorithm(name);
    return traits;
}

bool is_misaligned(const KernelTraits& traits) noexcept {
    if (traits.alignment == 0) return false;
    switch (traits.math.type) {
        case MathType::tf32: return traits.alignment < 4;
        case MathType::fp16:
        case MathType::bf16:
        case MathType::fp16_or_bf16: return traits.alignment < 8;
        case MathType::fp8:
        case MathType::int8: return traits.alignment < 16;
        default: return false;
    }
}

bool is_outdated(const KernelTraits& traits, int capability) noexcept {
    // Volta and Turing are one generation here, Ampere and Ada the next; 10x and 12x are Blackwell. cuBLAS chooses kernels
    // for Ampere on Hopper for some shapes where they are no slower, so one generation says nothing; two do (Turing's
    // instructions reach a fourth of Hopper's rate).
    auto generation_of = [](int of) { return std::min(of / 10, 10); };
    return traits.architecture > 0 && capability > 0 &&
           generation_of(capability) - generation_of(traits.architecture) >= 2;
}

std::string_view to_string(KernelClass kind) noexcept {
    constexpr std::string_view kNames[] = {
        "other",           "gemm",      "gemv",    "convolution", "attention", "elementwise", "reduction",
        "normalization",   "softmax",   "pooling", "copy_cast",   "layout",    "memset_like", "optimizer",
        "embedding_index", "sort_scan", "random",  "collective",  "triton"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(ConvAlgorithm algorithm) noexcept {
    constexpr std::string_view kNames[] = {"none", "implicit_gemm", "explicit_gemm", "winograd",
                                           "fft",  "direct",        "depthwise"};
    return kNames[static_cast<std::size_t>(algorithm)];
}

std::string_view to_string(TritonKind kind) noexcept {
    constexpr std::string_view kNames[] = {"none",    "pointwise",       "reduction", "persistent_reduction",
                                           "foreach", "matmul_template", "other"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace gpuprof::knowledge
