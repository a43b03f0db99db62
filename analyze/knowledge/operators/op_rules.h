// The rules behind op_arithmetic.h, one file per family: op_gemm.cc, op_conv.cc, op_attention.cc, op_pointwise.cc,
// op_memory.cc. A rule gets the arguments of its operator in schema order (aten/src/ATen/native/native_functions.yaml)
// and returns its arithmetic. Names omit "aten::". Private to analyze/knowledge.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyze/knowledge/arithmetic.h"
#include "analyze/knowledge/operators/op_inputs.h"

namespace gpuprof::inline knowledge::op_rules {

using Rule = Arithmetic (*)(const OpInputs&);

struct NamedRule {
    std::string_view name;
    Rule rule;
};

[[nodiscard]] std::span<const NamedRule> gemm_rules() noexcept;
[[nodiscard]] std::span<const NamedRule> conv_rules() noexcept;
[[nodiscard]] std::span<const NamedRule> attention_rules() noexcept;
[[nodiscard]] std::span<const NamedRule>
memory_rules() noexcept;  // copies, softmax, norms, embeddings, losses, optimizers
// Elementwise operators and reductions, including in-place forms (a trailing underscore); absent for other names.
[[nodiscard]] std::optional<Arithmetic> pointwise(std::string_view name, const OpInputs& inputs);

// Sums byte counts; one unknown makes the sum unknown. A null tensor (an omitted optional argument) adds nothing.
class ByteSum {
public:
    ByteSum& add(const OpInput* tensor) {
        if (tensor) add(tensor_bytes(*tensor));
        return *this;
    }
    ByteSum& add(std::optional<double> bytes) {
        sum_ = sum_ && bytes ? std::optional<double>(*sum_ + *bytes) : std::nullopt;
        return *this;
    }
    ByteSum& add_elements(double count, const std::optional<DType>& dtype) {
        return add(dtype ? std::optional<double>(count * dtype->bytes) : std::nullopt);
    }
    [[nodiscard]] std::optional<double> sum() const noexcept { return sum_; }

private:
    std::optional<double> sum_ = 0.0;
};

[[nodiscard]] inline MathType type_of(const OpInput* tensor) noexcept {
    return tensor && tensor->dtype ? tensor->dtype->type : MathType::unknown;
}

}  // namespace gpuprof::knowledge::op_rules
