#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

#define GPUPROF_RULE_ADDRESS(Name) &k##Name##Kernel,
constexpr const KernelRule* kRules[] = {GPUPROF_KERNEL_RULES(GPUPROF_RULE_ADDRESS)};

}  // namespace

std::span<const KernelRule* const> kernel_rules() { return kRules; }

}  // namespace gpuprof::kernels
