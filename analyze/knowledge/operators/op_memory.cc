// Memory-bound operators: copies, fills, concatenation, softmax, normalisation, dropout, embeddings, losses, fused
// optimizers. The nominal FLOPs per element are the passes of the textbook algorithm: softmax = max, subtract, exp,
// sum, divide.
#include <algorithm>

#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge::op_rules {
namespace {

Arithmetic of(std::optional<double> flops, const ByteSum& bytes, const OpInput* tensor) {
    Arithmetic result;
    result.flops = flops;
    result.bytes = bytes.sum();
    result.type = type_of(tensor);
    result.nominal = true;
    return result;
}

// copy_(self, src, non_blocking): reads src at its own size; src may be broadcast.
Arithmetic copy(const OpInputs& in) {
    const OpInput* to = in.tensor(0);
    const OpInput* from = in.tensor(1);
    return to && from ? of(0.0, ByteSum().add(from).add(to), from) : Arithmetic{};
}

Arithmetic clone(const OpInputs& in) {
    const OpInput* self = in.tensor(0);
    return self ? of(0.0, ByteSum().add(self).add(self), self) : Arithmetic{};
}

// _to_copy(self, dtype, ...), to(self, dtype, ...): the dtype is a number; absent if unchanged.
Arithmetic convert(const OpInputs& in) {
    const OpInput* self = in.tensor(0);
    if (!self) return {};
    const auto code = in.integer(1);
    const std::optional<DType> out = code ? dtype_of_code(*code) : self->dtype;
    return of(0.0, ByteSum().add(self).add_elements(numel(self->shape), out), self);
}

Arithmetic fill(const OpInputs& in) {
    const OpInput* self = in.tensor(0);
    return self ? of(0.0, ByteSum().add(self), self) : Arithmetic{};
}

double total_elements(const std::vector<Shape>& shapes) {
    double total = 0;
    for (const Shape& shape : shapes) total += numel(shape);
    return total;
}

Arithmetic concatenate(const OpInputs& in) {
    const OpInput* tensors = in.tensor_list(0);
    if (!tensors || tensors->shapes.empty()) return {};
    return of(0.0, ByteSum().add_elements(2 * total_elements(tensors->shapes), tensors->dtype), tensors);
}

// (self, dim, half_to_float)
Arithmetic softmax(const OpInputs& in) {
    const OpInput* self = in.tensor(0);
    if (!self) return {};
    const double count = numel(self->shape);
    const std::optional<DType> out = in.flag(2).value_or(false) ? dtype_of_name("float") : self->dtype;
    return of(5 * count, ByteSum().add(self).add_elements(count, out), self);
}

// (grad_output, output, dim, input_dtype): multiply, sum, subtract, multiply.
Arithmetic softmax_backward(const OpInputs& in) {
    const OpInput* gradient = in.tensor(0);
    const OpInput* output = in.tensor(1);
    if (!gradient || !output) return {};
    const auto code = in.integer(3);
    const std::optional<DType> out = code ? dtype_of_code(*code) : gradient->dtype;
    const double count = numel(gradient->shape);
    return of(4 * count, ByteSum().add(gradient).add(output).add_elements(count, out), gradient);
}

// Mean (1), variance (3), normalise (2), scale and shift (2).
constexpr double kNormFlops = 8;
// Normalised input (2), products with the two gradients and their sums (5), combination (4), parameter gradients (2).
constexpr double kNormBackwardFlops = 13;

// native_layer_norm(input, normalized_shape, weight, bias, eps): also writes mean and reciprocal deviation of each row,
// as float.
Arithmetic layer_norm(const OpInputs& in) {
    const OpInput* input = in.tensor(0);
    if (!input) return {};
    const double count = numel(input->shape);
    ByteSum bytes = ByteSum().add(input).add_elements(count, input->dtype).add(in.tensor(2)).add(in.tensor(3));
    const std::optional<Shape> normalized = in.integers(1);
    const double row = normalized ? numel(*normalized) : 0;
    if (row > 0) bytes.add(2 * count / row * 4);
    return of(kNormFlops * count, bytes, input);
}

// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Arithmetic layer_norm_backward(const OpInputs& in) {
    const OpInput* gradient = in.tensor(0);
    const OpInput* input = in.tensor(1);
    if (!gradient || !input) return {};
    const double count = numel(input->shape);
    ByteSum bytes = ByteSum().add(gradient).add(input).add_elements(count, input->dtype);
    for (std::size_t i : {3u, 4u, 5u, 5u, 6u})
        bytes.add(in.tensor(i));  // statistics, weight; gradients of weight and bias
    return of(kNormBackwardFlops * count, bytes, input);
}

// native_batch_norm and cudnn_batch_norm(input, weight, bias, running_mean, running_var, training, ...); at least one
// pass over the input.
Arithmetic batch_norm(const OpInputs& in) {
    const OpInput* input = in.tensor(0);
    if (!input) return {};
    const double count = numel(input->shape);
    const double flops = in.flag(5).value_or(true) ? kNormFlops : 2;
    return of(flops * count, ByteSum().add(input).add_elements(count, input->dtype).add(in.tensor(1)).add(in.tensor(2)),
              input);
}

// group norm and RMS norm forward: one pass in, one out, one set of parameters.
Arithmetic norm(const OpInputs& in) {
    const OpInput* input = in.tensor(0);
    if (!input) return {};
    const double count = numel(input->shape);
    return of(kNormFlops * count, ByteSum().add(input).add_elements(count, input->dtype), input);
}

// Gradient and input in either order, the gradient of the input out.
Arithmetic norm_backward(const OpInputs& in) {
    const OpInput* first = in.tensor(0);
    const OpInput* second = in.tensor(1);
    if (!first || !second) return {};
    const double count = numel(first->shape);
    return of(kNormBackwardFlops * count, ByteSum().add(first).add(second).add_elements(count, first->dtype), first);
}

// native_dropout(input, p, train): a compare and a scale; the mask is boolean.
Arithmetic dropout(const OpInputs& in) {
    const OpInput* input = in.tensor(0);
    if (!input) return {};
    const double count = numel(input->shape);
    return of(2 * count, ByteSum().add(input).add_elements(count, input->dtype).add(count), input);
}

// Reads and writes rows of `width` elements, with one index each. A repeated row may come from cache.
Arithmetic lookup(const OpInput* table, const OpInput* indices, double rows, double width) {
    return of(0.0, ByteSum().add(indices).add_elements(2 * rows * width, table->dtype), table);
}

double row_width(const Shape& table) { return table.empty() ? 1 : numel(Shape(table.begin() + 1, table.end())); }

Arithmetic embedding(const OpInputs& in) {
    const OpInput* table = in.tensor(0);
    const OpInput* indices = in.tensor(1);
    if (!table || !indices) return {};
    return lookup(table, indices, numel(indices->shape), row_width(table->shape));
}

// index_select(self, dim, index): these sizes describe only dimension 0; other dimensions move other rows.
Arithmetic index_select(const OpInputs& in) {
    const OpInput* table = in.tensor(0);
    const OpInput* indices = in.tensor(2);
    if (!table || !indices || in.integer(1) != 0) return {};
    return lookup(table, indices, numel(indices->shape), row_width(table->shape));
}

// gather(self, dim, index): one element per index.
Arithmetic gather(const OpInputs& in) {
    const OpInput* table = in.tensor(0);
    const OpInput* indices = in.tensor(2);
    return table && indices ? lookup(table, indices, numel(indices->shape), 1) : Arithmetic{};
}

// embedding_dense_backward(grad, indices, num_weights, ...): reads the gradient rows, writes a whole table, one
// addition per element.
Arithmetic embedding_backward(const OpInputs& in) {
    const OpInput* gradient = in.tensor(0);
    const OpInput* indices = in.tensor(1);
    const auto rows = in.integer(2);
    if (!gradient || !indices || gradient->shape.empty() || !rows || *rows < 0) return {};
    const double table = static_cast<double>(*rows) * static_cast<double>(gradient->shape.back());
    return of(numel(gradient->shape), ByteSum().add(gradient).add(indices).add_elements(table, gradient->dtype),
              gradient);
}

// nll_loss_forward(self, target, ...): one element of each row and its target; nll_loss_backward(grad, self, target,
// ...) writes the same.
Arithmetic nll_loss(const OpInput* rows, const OpInput* target) {
    if (!rows || !target) return {};
    const double count = numel(target->shape);
    return of(count, ByteSum().add(target).add_elements(count, rows->dtype), rows);
}
Arithmetic nll_loss_forward(const OpInputs& in) { return nll_loss(in.tensor(0), in.tensor(1)); }
Arithmetic nll_loss_backward(const OpInputs& in) { return nll_loss(in.tensor(1), in.tensor(2)); }

// _fused_adam_(params, grads, exp_avgs, exp_avg_sqs, ...): reads four lists, writes all but the gradients. PyTorch
// usually records neither sizes nor types of tensor lists; the result is then absent.
Arithmetic fused_adam(const OpInputs& in) {
    ByteSum bytes;
    double elements = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const OpInput* list = in.tensor_list(i);
        if (!list || list->shapes.empty()) return {};
        elements = total_elements(list->shapes);
        bytes.add_elements((i == 1 ? 1 : 2) * elements, list->dtype);
    }
    constexpr double kAdamFlops = 14;  // two moments (7), bias-corrected denominator (3), step and weight decay (4)
    return of(kAdamFlops * elements, bytes, in.tensor_list(0));
}

constexpr NamedRule kMemoryRules[] = {
    {"copy_", copy},
    {"clone", clone},
    {"contiguous", clone},
    {"_to_copy", convert},
    {"to", convert},
    {"fill_", fill},
    {"zero_", fill},
    {"cat", concatenate},
    {"stack", concatenate},
    {"_softmax", softmax},
    {"_log_softmax", softmax},
    {"_softmax_backward_data", softmax_backward},
    {"_log_softmax_backward_data", softmax_backward},
    {"native_layer_norm", layer_norm},
    {"layer_norm", layer_norm},
    {"native_layer_norm_backward", layer_norm_backward},
    {"native_batch_norm", batch_norm},
    {"cudnn_batch_norm", batch_norm},
    {"miopen_batch_norm", batch_norm},
    {"_batch_norm_impl_index", batch_norm},
    {"native_batch_norm_backward", norm_backward},
    {"cudnn_batch_norm_backward", norm_backward},
    {"miopen_batch_norm_backward", norm_backward},
    {"native_group_norm", norm},
    {"native_group_norm_backward", norm_backward},
    {"_fused_rms_norm", norm},
    {"native_dropout", dropout},
    {"embedding", embedding},
    {"index_select", index_select},
    {"gather", gather},
    {"embedding_dense_backward", embedding_backward},
    {"nll_loss_forward", nll_loss_forward},
    {"nll_loss_backward", nll_loss_backward},
    {"_fused_adam_", fused_adam},
    {"_fused_adamw_", fused_adam},
};

}  // namespace

std::span<const NamedRule> memory_rules() noexcept { return kMemoryRules; }

}  // namespace gpuprof::knowledge::op_rules
