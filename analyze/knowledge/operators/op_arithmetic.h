// The FLOPs of an operator and the minimum bytes it moves, from its recorded name, shapes and types.
//
// flops: a multiply-add counts as two, as in vendors' peaks. For matrix products, convolutions and attention, the
// figure is exact for the textbook algorithm and equal to torch.utils.flop_counter, except that causal attention counts
// only computed pairs (PyTorch counts all). For pointwise, reduction and normalisation operators it is nominal
// (`nominal` is set): elementary functions count as one, so it is accurate only within a small factor, enough to see
// that the operator is far from any compute peak. bytes: every input read once and every output written once. Real
// traffic is higher on cache misses, and lower if an input is still in L2.
//
// Use the innermost operator around a launch. Wrappers (aten::linear over aten::addmm) yield the same work again, with
// the types before autocast; never sum over nested operators. An operator that launches nothing (aten::to without a
// change) did no work. The result is absent for other operators, missing shapes, a convolution without stride, or
// attention without its causal flag.
#pragma once

#include <string_view>

#include "analyze/knowledge/arithmetic.h"

namespace gpuprof::inline knowledge {

// As recorded; see op_inputs.h. Missing texts are empty.
struct OpCall {
    std::string_view name = {};
    std::string_view input_dims = {};
    std::string_view input_types = {};
    std::string_view concrete_inputs = {};
};

[[nodiscard]] Arithmetic op_arithmetic(const OpCall& call);

}  // namespace gpuprof::knowledge
