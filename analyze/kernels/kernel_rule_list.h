// Every rule about a measured kernel. Each is defined in rules/, in the file of its id.
#pragma once

#include "analyze/kernels/kernel_rule.h"

#define GPUPROF_KERNEL_RULES(RULE) \
    RULE(DramBound)                \
    RULE(CacheBound)               \
    RULE(ComputeBound)             \
    RULE(LatencyBound)             \
    RULE(UncoalescedAccess)        \
    RULE(BankConflicts)            \
    RULE(LowOccupancy)             \
    RULE(TailEffect)               \
    RULE(SmImbalance)              \
    RULE(WithoutTensorCores)       \
    RULE(StarvedTensorCores)       \
    RULE(RegisterSpills)           \
    RULE(Divergence)               \
    RULE(ContendedAtomics)         \
    RULE(InstructionCache)

namespace gpuprof::inline kernels {

#define GPUPROF_DECLARE_RULE(Name) extern const KernelRule k##Name##Kernel;
GPUPROF_KERNEL_RULES(GPUPROF_DECLARE_RULE)
#undef GPUPROF_DECLARE_RULE

}  // namespace gpuprof::kernels
