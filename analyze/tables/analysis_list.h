// The analyses of one recording, one line each, in the order of the reference page. Those of jobs stand between the two lists
// (ranks/tables/job_analyses.h). An entry Name refers to the constant `const Analysis kName`, defined in the analysis's own file.
#pragma once

#include "analyze/tables/analysis.h"

#define GPUPROF_ANALYSES_OF_WORK(ANALYSIS) \
    ANALYSIS(Devices)                      \
    ANALYSIS(Kernels)                      \
    ANALYSIS(Memcpy)                       \
    ANALYSIS(Memset)                       \
    ANALYSIS(UnifiedMemory)                \
    ANALYSIS(Api)                          \
    ANALYSIS(OsCalls)                      \
    ANALYSIS(Launches)                     \
    ANALYSIS(Graphs)                       \
    ANALYSIS(LaunchStacks)                 \
    ANALYSIS(Gaps)                         \
    ANALYSIS(Idle)                         \
    ANALYSIS(Overlap)                      \
    ANALYSIS(Ranges)                       \
    ANALYSIS(Ops)                          \
    ANALYSIS(Modules)                      \
    ANALYSIS(Hlo)                          \
    ANALYSIS(Steps)                        \
    ANALYSIS(Streams)                      \
    ANALYSIS(Queue)                        \
    ANALYSIS(Sequences)                    \
    ANALYSIS(Memory)                       \
    ANALYSIS(MemoryAccount)                \
    ANALYSIS(MemoryCurve)                  \
    ANALYSIS(Allocations)                  \
    ANALYSIS(Growth)                       \
    ANALYSIS(Fragmentation)                \
    ANALYSIS(Collectives)

#define GPUPROF_ANALYSES_OF_MEASUREMENTS(ANALYSIS) \
    ANALYSIS(Samples)                              \
    ANALYSIS(Energy)                               \
    ANALYSIS(StepEnergy)                           \
    ANALYSIS(Cpu)                                  \
    ANALYSIS(Scheduling)                           \
    ANALYSIS(Stacks)                               \
    ANALYSIS(Arithmetic)                           \
    ANALYSIS(Counters)                             \
    ANALYSIS(Limits)                               \
    ANALYSIS(Advice)                               \
    ANALYSIS(Kernel)                               \
    ANALYSIS(MetricRows)                           \
    ANALYSIS(Stalls)                               \
    ANALYSIS(Roofline)                             \
    ANALYSIS(ToolAdvice)                           \
    ANALYSIS(Occupancy)                            \
    ANALYSIS(OccupancyCurves)                      \
    ANALYSIS(Source)                               \
    ANALYSIS(LineStalls)                           \
    ANALYSIS(GpuTrace)                             \
    ANALYSIS(ApiTrace)                             \
    ANALYSIS(OsTrace)                              \
    ANALYSIS(RangeTrace)                           \
    ANALYSIS(LossRows)                             \
    ANALYSIS(Validity)                             \
    ANALYSIS(WhatIf)                               \
    ANALYSIS(CriticalPath)

namespace gpuprof::inline tables {

#define GPUPROF_ANALYSIS_DECLARE(Name) extern const Analysis k##Name;
GPUPROF_ANALYSES_OF_WORK(GPUPROF_ANALYSIS_DECLARE)
GPUPROF_ANALYSES_OF_MEASUREMENTS(GPUPROF_ANALYSIS_DECLARE)
#undef GPUPROF_ANALYSIS_DECLARE

}  // namespace gpuprof::tables
