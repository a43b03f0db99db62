// Finds the rule of an operator by linear search over about a hundred names, once per distinct (operator, shapes).
#include "analyze/knowledge/operators/op_arithmetic.h"

#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge {
namespace {

op_rules::Rule find_rule(std::string_view name) noexcept {
    for (const auto& rules :
         {op_rules::gemm_rules(), op_rules::conv_rules(), op_rules::attention_rules(), op_rules::memory_rules()}) {
        for (const op_rules::NamedRule& rule : rules) {
            if (rule.name == name) return rule.rule;
        }
    }
    return nullptr;
}

}  // namespace

std::optional<double> Arithmetic::intensity() const noexcept {
    if (!flops || !bytes || *bytes <= 0) return std::nullopt;
    return *flops / *bytes;
}

Arithmetic op_arithmetic(const OpCall& call) {
    constexpr std::string_view kNamespace = "aten::";
    if (!call.name.starts_with(kNamespace)) return {};
    const std::optional<OpInputs> inputs = parse_op_inputs(call.input_dims, call.input_types, call.concrete_inputs);
    if (!inputs) return {};
    const std::string_view name = call.name.substr(kNamespace.size());
    if (const op_rules::Rule rule = find_rule(name)) return rule(*inputs);
    return op_rules::pointwise(name, *inputs).value_or(Arithmetic{});
}

}  // namespace gpuprof::knowledge
