#include "analyze/rules/rule_list.h"

namespace gpuprof::inline rules {
namespace {

#define GPUPROF_RULE_ADDRESS(Name) &k##Name,
constexpr const Rule* kRules[] = {GPUPROF_RULES(GPUPROF_RULE_ADDRESS)};

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

}  // namespace gpuprof::rules
