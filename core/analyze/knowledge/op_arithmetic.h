// How much an operator computes and the least it must move, from its recorded name, shapes and types.
//
// flops: multiply and add are two, as vendors quote peaks. For matrix products, convolutions and attention the figure is exact for the
// textbook algorithm and equal to torch.utils.flop_counter, except that causal attention counts only the pairs it computes (PyTorch counts all).
// For pointwise, reduction and normalisation operators it is nominal: elementary functions count one, so it is right within a small factor,
// enough to see that the operator is far from any compute peak and for nothing else; `nominal` says so.
// bytes: every input read once and every output written once. Real traffic is higher when caches miss, and lower when an input is still in L2.
//
// Ask for the innermost operator around a launch. Wrappers (aten::linear over aten::addmm) yield the same work again, with the types before
// autocast; never sum over nested operators. An operator that launches nothing (aten::to without a change) did none of it.
// What the record does not tell is absent: other operators, missing shapes, a convolution without its stride, attention without its causal flag.
#pragma once

#include <string_view>

#include "core/analyze/knowledge/arithmetic.h"

namespace gpuprof {

// As recorded; see op_inputs.h. Empty texts for what is missing.
struct OpCall {
    std::string_view name = {};
    std::string_view input_dims = {};
    std::string_view input_types = {};
    std::string_view concrete_inputs = {};
};

[[nodiscard]] Arithmetic op_arithmetic(const OpCall& call);

}  // namespace gpuprof
