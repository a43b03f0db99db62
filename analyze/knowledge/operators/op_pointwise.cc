// Elementwise operators (op_pointwise.def) and reductions. Every operand is read once at its own size, and the result
// is written at the broadcast size; FLOPs are nominal, see op_arithmetic.h.
#include <algorithm>

#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge::op_rules {
namespace {

enum class OutputType : std::uint8_t { same, first, boolean };

struct Pointwise {
    std::string_view name;
    std::size_t operands;
    double flops_per_element;
    OutputType output;
};

constexpr Pointwise kPointwise[] = {
#define POINTWISE(name, operands, flops, output) {name, operands, flops, OutputType::output},
#include "analyze/knowledge/operators/op_pointwise.def"
#undef POINTWISE
};

// Broadcasts `shape` into `result`; false if incompatible.
bool broadcast_into(Shape& result, const Shape& shape) {
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t& to = result[result.size() - 1 - i];
        const std::int64_t from = shape[shape.size() - 1 - i];
        if (to != from && to != 1 && from != 1) return false;
        if (to == 1) to = from;
    }
    return true;
}

// PyTorch's type promotion, reduced to what decides sizes: floating point over integer, then the wider type; 0-d
// tensors count only if there are no others.
std::optional<DType> promote(const std::optional<DType>& a, const std::optional<DType>& b) {
    if (!a || !b) return a ? a : b;
    if (a->floating != b->floating) return a->floating ? a : b;
    return a->bytes >= b->bytes ? a : b;
}

struct Operands {
    Shape shape;
    ByteSum bytes;
    std::optional<DType> dtype;
    bool any = false;
};

std::optional<Operands> operands_of(const Pointwise& op, const OpInputs& in) {
    Operands result;
    std::optional<DType> of_scalars;
    for (std::size_t i = 0; i < std::min(op.operands, in.size()); ++i) {
        const OpInput* tensor = in.tensor(i);
        if (!tensor) continue;
        if (!broadcast_into(result.shape, tensor->shape)) return std::nullopt;
        result.any = true;
        result.bytes.add(tensor);
        std::optional<DType>& dtype = tensor->shape.empty() ? of_scalars : result.dtype;
        const bool condition = op.name == "where" && i == 0;
        if (!condition) dtype = promote(dtype, tensor->dtype);
    }
    if (!result.any) return std::nullopt;
    if (!result.dtype) result.dtype = of_scalars;
    return result;
}

Arithmetic elementwise(const Pointwise& op, const OpInputs& in, bool in_place) {
    const std::optional<Operands> operands = operands_of(op, in);
    if (!operands) return {};
    const OpInput* self = in.tensor(0);
    const bool into_first = in_place || op.output == OutputType::first;
    if (into_first && !self) return {};
    const double outputs = numel(into_first ? self->shape : operands->shape);
    std::optional<DType> out_type = into_first ? self->dtype : operands->dtype;
    if (op.output == OutputType::boolean && !in_place) out_type = dtype_of_name("bool");
    Arithmetic result;
    result.flops = outputs * op.flops_per_element;
    result.bytes = ByteSum(operands->bytes).add_elements(outputs, out_type).sum();
    result.type = operands->dtype ? operands->dtype->type : MathType::unknown;
    result.nominal = true;
    return result;
}

struct Reduction {
    std::string_view name;
    int dims_at, keep_at;  // positions of the reduced dimensions and keepdim
    double flops_per_element;
    int index_bytes;  // written per result in addition to or instead of the value
    bool writes_value;
};

constexpr Reduction kReductions[] = {
    {"sum", 1, 2, 1, 0, true},     {"mean", 1, 2, 1, 0, true},
    {"prod", 1, 2, 1, 0, true},    {"amax", 1, 2, 1, 0, true},
    {"amin", 1, 2, 1, 0, true},    {"max", 1, 2, 1, 8, true},
    {"min", 1, 2, 1, 8, true},     {"argmax", 1, 2, 1, 8, false},
    {"argmin", 1, 2, 1, 8, false}, {"linalg_vector_norm", 2, 3, 2, 0, true},
    {"norm", 2, 3, 2, 0, true},    {"var", 1, 3, 3, 0, true},
    {"std", 1, 3, 3, 0, true},     {"logsumexp", 1, 2, 3, 0, true},
};

// Size of the result; one if everything is reduced or the dimensions are unknown, so that bytes remain a lower bound.
double results_of(const Reduction& reduction, const OpInputs& in, const Shape& shape) {
    const auto at = static_cast<std::size_t>(reduction.dims_at);
    std::optional<Shape> dims = in.integers(at);
    // sum(self, dtype) has a number where sum(self, dim, keepdim, dtype) has the list; max(self, dim, keepdim) has one
    // dimension.
    if (!dims && in.size() > 2) {
        if (const auto single = in.integer(at)) dims = Shape{*single};
    }
    if (!dims || dims->empty()) return 1;
    Shape kept = shape;
    for (std::int64_t dim : *dims) {
        const std::int64_t index = dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim;
        if (index < 0 || index >= static_cast<std::int64_t>(shape.size())) return 1;
        kept[static_cast<std::size_t>(index)] = 1;
    }
    return numel(kept);
}

Arithmetic reduce(const Reduction& reduction, const OpInputs& in) {
    const OpInput* self = in.tensor(0);
    if (!self) return {};
    const double results = results_of(reduction, in, self->shape);
    Arithmetic result;
    result.flops = numel(self->shape) * reduction.flops_per_element;
    ByteSum bytes = ByteSum().add(self);
    if (reduction.writes_value) bytes.add_elements(results, self->dtype);
    // A reduction over all elements by max or min returns no index.
    if (reduction.index_bytes > 0 && in.size() > 1) bytes.add(results * reduction.index_bytes);
    result.bytes = bytes.sum();
    result.type = type_of(self);
    result.nominal = true;
    return result;
}

}  // namespace

std::optional<Arithmetic> pointwise(std::string_view name, const OpInputs& inputs) {
    const bool in_place = name.size() > 1 && name.ends_with('_');
    const std::string_view base = in_place ? name.substr(0, name.size() - 1) : name;
    // max(a, b) and min(a, b) of two tensors are elementwise.
    const bool two_tensors = (base == "max" || base == "min") && inputs.tensor(1);
    for (const Reduction& reduction : kReductions) {
        if (!in_place && !two_tensors && reduction.name == base) return reduce(reduction, inputs);
    }
    for (const Pointwise& op : kPointwise) {
        if (op.name == base) return elementwise(op, inputs, in_place);
    }
    if (two_tensors) return elementwise({base, 2, 1, OutputType::same}, inputs, in_place);
    return std::nullopt;
}

}  // namespace gpuprof::knowledge::op_rules
