// Scaled dot product attention. Forward: two products over every (query, key) pair, 2 pairs (d_qk + d_v) FLOPs.
// Backward: five products, since the scores are recomputed (sdpa_flop_count and sdpa_backward_flop_count of
// torch.utils.flop_counter). Softmax is excluded there and here. With is_causal, only pairs at or below the diagonal
// count, since fused kernels skip the others; PyTorch's counter counts all pairs. Layouts: [batch, heads, sequence,
// width], and [batch, sequence, heads, width] for the _flash_ and _efficient_ attention entry points. For packed
// sequences of different lengths (with cumulative lengths) the work does not follow from shapes: absent.
#include <algorithm>

#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge::op_rules {
namespace {

struct Layout {
    std::size_t query;            // position; key and value follow
    std::size_t heads, sequence;  // dimensions
};
constexpr Layout kForward{0, 1, 2};
constexpr Layout kForwardSequenceFirst{0, 2, 1};
constexpr Layout kBackward{1, 1, 2};
constexpr Layout kBackwardSequenceFirst{1, 2, 1};

struct AttentionShape {
    const OpInput* query;
    const OpInput* key;
    const OpInput* value;
    double heads_in_batch, queries, keys, width_qk, width_v;
};

std::optional<AttentionShape> problem_of(const OpInputs& in, const Layout& layout) {
    const OpInput* query = in.tensor(layout.query);
    const OpInput* key = in.tensor(layout.query + 1);
    const OpInput* value = in.tensor(layout.query + 2);
    for (const OpInput* tensor : {query, key, value}) {
        if (!tensor || tensor->shape.size() != 4) return std::nullopt;
    }
    const auto size = [](const OpInput* tensor, std::size_t dimension) {
        return static_cast<double>(tensor->shape[dimension]);
    };
    if (key->shape[layout.sequence] != value->shape[layout.sequence] || query->shape[3] != key->shape[3])
        return std::nullopt;
    return AttentionShape{query,
                          key,
                          value,
                          size(query, 0) * size(query, layout.heads),
                          size(query, layout.sequence),
                          size(key, layout.sequence),
                          size(query, 3),
                          size(value, 3)};
}

// Pairs a query i has with keys 0..i (PyTorch aligns the causal mask top left), or with all keys.
double pairs(const AttentionShape& problem, bool causal) noexcept {
    if (!causal) return problem.queries * problem.keys;
    const double full = std::min(problem.queries, problem.keys);
    const double beyond = std::max(0.0, problem.queries - problem.keys) * problem.keys;
    return full * (full + 1) / 2 + beyond;
}

Arithmetic forward(const OpInputs& in, const Layout& layout, std::optional<bool> causal) {
    const auto problem = problem_of(in, layout);
    if (!problem) return {};
    Arithmetic result;
    result.type = type_of(problem->query);
    const double outputs = problem->heads_in_batch * problem->queries * problem->width_v;
    result.bytes = ByteSum()
                       .add(problem->query)
                       .add(problem->key)
                       .add(problem->value)
                       .add_elements(outputs, problem->query->dtype)
                       .sum();
    if (causal) {
        result.flops = 2 * problem->heads_in_batch * pairs(*problem, *causal) * (problem->width_qk + problem->width_v);
    }
    return result;
}

// Reads the output's gradient, q, k, v and the output; writes three gradients.
Arithmetic backward(const OpInputs& in, const Layout& layout, std::optional<bool> causal) {
    const auto problem = problem_of(in, layout);
    if (!problem) return {};
    Arithmetic result;
    result.type = type_of(problem->query);
    const double outputs = problem->heads_in_batch * problem->queries * problem->width_v;
    ByteSum bytes;
    for (const OpInput* tensor : {problem->query, problem->key, problem->value}) bytes.add(tensor).add(tensor);
    result.bytes = bytes.add_elements(2 * outputs, problem->query->dtype).sum();
    if (causal) {
        result.flops =
            2 * problem->heads_in_batch * pairs(*problem, *causal) * (3 * problem->width_qk + 2 * problem->width_v);
    }
    return result;
}

// custom_mask_type of efficient attention: 0 none, 1 causal aligned top left, 2 bottom right (equal for square
// problems).
std::optional<bool> mask_type(const OpInputs& in, std::size_t position) {
    const auto type = in.integer(position);
    if (!type || *type < 0 || *type > 2) return std::nullopt;
    return *type != 0;
}

// With a mask tensor, fused kernels compute all pairs, and is_causal is false. scaled_dot_product_attention(q, k, v,
// mask, p, is_causal)
Arithmetic sdpa(const OpInputs& in) { return forward(in, kForward, in.flag(5)); }
// The math path multiplies whole matrices and masks them, causal or not.
Arithmetic sdpa_math(const OpInputs& in) { return forward(in, kForward, false); }
Arithmetic sdpa_flash(const OpInputs& in) { return forward(in, kForward, in.flag(4)); }
Arithmetic sdpa_efficient(const OpInputs& in) { return forward(in, kForward, in.flag(6)); }
// (q, k, v, bias, compute_log_sumexp, p, is_causal, ...); PyTorch 2.5 had (q, k, v, p, is_causal, ...), where argument
// 3 is a number.
Arithmetic sdpa_cudnn(const OpInputs& in) {
    const bool old_form = in.size() > 3 && !in.is_none(3) && !in.tensor(3);
    return forward(in, kForward, old_form ? in.flag(4) : in.flag(6));
}
Arithmetic flash_forward(const OpInputs& in) {
    if (in.tensor(3) || in.tensor(4)) return {};
    return forward(in, kForwardSequenceFirst, in.flag(8));
}
Arithmetic efficient_forward(const OpInputs& in) {
    if (in.tensor(4) || in.tensor(5)) return {};
    return forward(in, kForwardSequenceFirst, mask_type(in, 9));
}
Arithmetic cudnn_forward(const OpInputs& in) {
    if (in.tensor(4) || in.tensor(5)) return {};
    return forward(in, kForward, in.flag(10));
}
Arithmetic sdpa_flash_backward(const OpInputs& in) {
    if (in.tensor(6) || in.tensor(7)) return {};
    return backward(in, kBackward, in.flag(11));
}
Arithmetic sdpa_efficient_backward(const OpInputs& in) { return backward(in, kBackward, in.flag(11)); }
Arithmetic sdpa_cudnn_backward(const OpInputs& in) {
    if (in.tensor(9) || in.tensor(10)) return {};
    return backward(in, kBackward, in.flag(14));
}
Arithmetic flash_backward(const OpInputs& in) {
    if (in.tensor(6) || in.tensor(7)) return {};
    return backward(in, kBackwardSequenceFirst, in.flag(11));
}
Arithmetic efficient_backward(const OpInputs& in) {
    if (in.tensor(6) || in.tensor(7)) return {};
    return backward(in, kBackwardSequenceFirst, mask_type(in, 14));
}

constexpr NamedRule kAttentionRules[] = {
    {"scaled_dot_product_attention", sdpa},
    {"_scaled_dot_product_attention_math", sdpa_math},
    {"_scaled_dot_product_flash_attention", sdpa_flash},
    {"_scaled_dot_product_flash_attention_for_cpu", sdpa_flash},
    {"_scaled_dot_product_efficient_attention", sdpa_efficient},
    {"_scaled_dot_product_cudnn_attention", sdpa_cudnn},
    {"_flash_attention_forward", flash_forward},
    {"_efficient_attention_forward", efficient_forward},
    {"_cudnn_attention_forward", cudnn_forward},
    {"_scaled_dot_product_flash_attention_backward", sdpa_flash_backward},
    {"_scaled_dot_product_efficient_attention_backward", sdpa_efficient_backward},
    {"_scaled_dot_product_cudnn_attention_backward", sdpa_cudnn_backward},
    {"_flash_attention_backward", flash_backward},
    {"_efficient_attention_backward", efficient_backward},
    {"_cudnn_attention_backward", sdpa_cudnn_backward},
};

}  // namespace

std::span<const NamedRule> attention_rules() noexcept { return kAttentionRules; }

}  // namespace gpuprof::knowledge::op_rules
