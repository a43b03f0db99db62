// Matrix products. flops = 2 m n k per matrix, as torch.utils.flop_counter (mm_flop, addmm_flop, bmm_flop); a bias adds
// bytes and no FLOPs.
#include <algorithm>

#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge::op_rules {
namespace {

// Shape of a matmul operand as [batch..., rows, columns].
struct Operand {
    Shape batch;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

Operand operand_of(const Shape& shape, bool left) {
    if (shape.size() == 1) return left ? Operand{{}, 1, shape[0]} : Operand{{}, shape[0], 1};
    return {Shape(shape.begin(), shape.end() - 2), shape[shape.size() - 2], shape.back()};
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (from_a != from_b && from_a != 1 && from_b != 1) return std::nullopt;
        result[result.size() - 1 - i] = from_a == 1 ? from_b : from_a;
    }
    return result;
}

Arithmetic product(const OpInput* a, const OpInput* b, const OpInput* added, std::optional<DType> out_type) {
    if (!a || !b || a->shape.empty() || b->shape.empty()) return {};
    const Operand left = operand_of(a->shape, true);
    const Operand right = operand_of(b->shape, false);
    const std::optional<Shape> batch = broadcast(left.batch, right.batch);
    if (!batch || left.columns != right.rows) return {};
    const double outputs = numel(*batch) * static_cast<double>(left.rows) * static_cast<double>(right.columns);
    Arithmetic result;
    result.flops = 2 * outputs * static_cast<double>(left.columns);
    result.bytes = ByteSum().add(a).add(b).add(added).add_elements(outputs, out_type).sum();
    result.type = type_of(a) == type_of(b) ? type_of(a) : MathType::unknown;
    return result;
}

Arithmetic mm(const OpInputs& in) {
    const OpInput* a = in.tensor(0);
    return product(a, in.tensor(1), nullptr, a ? a->dtype : std::nullopt);
}

// addmm, baddbmm, addmv: the addend comes first.
Arithmetic addmm(const OpInputs& in) {
    const OpInput* a = in.tensor(1);
    return product(a, in.tensor(2), in.tensor(0), a ? a->dtype : std::nullopt);
}

// linear(input [..., k], weight [n, k], bias)
Arithmetic linear(const OpInputs& in) {
    const OpInput* input = in.tensor(0);
    const OpInput* weight = in.tensor(1);
    if (!input || !weight || input->shape.empty() || weight->shape.empty() || weight->shape.size() > 2) return {};
    OpInput transposed = *weight;
    std::reverse(transposed.shape.begin(), transposed.shape.end());
    if (weight->shape.size() == 1) return product(input, &transposed, in.tensor(2), input->dtype);
    OpInput flat = *input;
    const std::int64_t k = input->shape.back();
    const double rows = k > 0 ? numel(input->shape) / static_cast<double>(k) : 0;
    if (rows > 9e15) return {};  // not exact in a double, and no real tensor
    flat.shape = {static_cast<std::int64_t>(rows), k};
    return product(&flat, &transposed, in.tensor(2), input->dtype);
}

// _scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
Arithmetic scaled_mm(const OpInputs& in) {
    const std::optional<std::int64_t> code = in.integer(6);
    return product(in.tensor(0), in.tensor(1), in.tensor(4), code ? dtype_of_code(*code) : std::nullopt);
}

// _int_mm(self, mat2): int8 in, int32 out.
Arithmetic int_mm(const OpInputs& in) { return product(in.tensor(0), in.tensor(1), nullptr, dtype_of_name("int")); }

constexpr NamedRule kGemmRules[] = {
    {"mm", mm},
    {"bmm", mm},
    {"matmul", mm},
    {"mv", mm},
    {"dot", mm},
    {"addmm", addmm},
    {"baddbmm", addmm},
    {"addmv", addmm},
    {"_addmm_activation", addmm},
    {"linear", linear},
    {"_scaled_mm", scaled_mm},
    {"_int_mm", int_mm},
    {"addmm_", addmm},
    {"baddbmm_", addmm},
};

}  // namespace

std::span<const NamedRule> gemm_rules() noexcept { return kGemmRules; }

}  // namespace gpuprof::knowledge::op_rules
