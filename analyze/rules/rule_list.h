// All rules, one line each. A line Name refers to the constant `const Rule kName`, which the rule's file defines.
#pragma once

#include "analyze/rules/rule.h"

#define GPUPROF_RULES(RULE)    \
    RULE(InputPipeline)        \
    RULE(SmallKernels)         \
    RULE(Synchronisation)      \
    RULE(IdleGaps)             \
    RULE(MemoryTransfers)      \
    RULE(SmallCopies)          \
    RULE(AllocationChurn)      \
    RULE(MemoryBoundKernels)   \
    RULE(MeasuredKernels)      \
    RULE(UnderfilledDevice)    \
    RULE(LayoutConversion)     \
    RULE(LowOccupancy)         \
    RULE(SlowConvolution)      \
    RULE(NoTensorCores)        \
    RULE(ExposedCommunication) \
    RULE(Throttling)           \
    RULE(ProfilerCost)         \
    RULE(LibraryLogs)

namespace gpuprof::inline rules {

#define GPUPROF_RULE_DECLARE(Name) extern const Rule k##Name;
GPUPROF_RULES(GPUPROF_RULE_DECLARE)
#undef GPUPROF_RULE_DECLARE

}  // namespace gpuprof::rules
