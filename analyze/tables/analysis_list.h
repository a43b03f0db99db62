// The analyses of one recording, one line each, in groups and in the order of the reference page. Those of jobs stand between the two lists
// (ranks/tables/job_analyses.h). An entry Name refers to the constant `const Analysis kName`, defined in the analysis's own file.
#pragma once

#include "analyze/tables/analysis.h"

#define GPUPROF_ANALYSES_OF_WORK(GROUP, ANALYSIS)                                                        \
    GROUP("Time of the device",                                                                          \
          "`idle` sums the causes of the idle time that `gaps` lists one by one; `devices` is the "      \
          "shortest account.")                                                                           \
    ANALYSIS(Devices)                                                                                    \
    ANALYSIS(Kernels)                                                                                    \
    ANALYSIS(Launches)                                                                                   \
    ANALYSIS(LaunchStacks)                                                                               \
    ANALYSIS(Graphs)                                                                                     \
    ANALYSIS(GraphNodes)                                                                                 \
    ANALYSIS(Sequences)                                                                                  \
    ANALYSIS(Streams)                                                                                    \
    ANALYSIS(Queue)                                                                                      \
    ANALYSIS(Overlap)                                                                                    \
    ANALYSIS(Idle)                                                                                       \
    ANALYSIS(Gaps)                                                                                       \
    ANALYSIS(Memcpy)                                                                                     \
    ANALYSIS(Memset)                                                                                     \
    ANALYSIS(UnifiedMemory)                                                                              \
    ANALYSIS(Collectives)                                                                                \
    ANALYSIS(Communication)                                                                              \
    GROUP("Steps",                                                                                       \
          "`steps` measures iterations; `criticalpath` says what makes one long, and `whatif` how long " \
          "it would be with a change.")                                                                  \
    ANALYSIS(Steps)                                                                                      \
    ANALYSIS(Iterations)                                                                                 \
    ANALYSIS(Phases)                                                                                     \
    ANALYSIS(CriticalPath)                                                                               \
    ANALYSIS(WhatIf)                                                                                     \
    GROUP("The program",                                                                                 \
          "By its ranges, operators and modules, by the calls that it makes, and by what its threads "   \
          "do.")                                                                                         \
    ANALYSIS(Ranges)                                                                                     \
    ANALYSIS(Ops)                                                                                        \
    ANALYSIS(Modules)                                                                                    \
    ANALYSIS(Hlo)                                                                                        \
    ANALYSIS(Arithmetic)                                                                                 \
    ANALYSIS(Api)                                                                                        \
    ANALYSIS(OsCalls)                                                                                    \
    ANALYSIS(Stacks)                                                                                     \
    ANALYSIS(Cpu)                                                                                        \
    ANALYSIS(Scheduling)                                                                                 \
    GROUP("Memory",                                                                                      \
          "`memory` has each device's peak and its owners, `memory_account` the parts of all used "      \
          "memory at one time, `memory_curve` the same over time; `allocations` names the stacks that "  \
          "hold memory at the peak, `growth` those that hold more later.")                               \
    ANALYSIS(Memory)                                                                                     \
    ANALYSIS(MemoryAccount)                                                                              \
    ANALYSIS(MemoryCurve)                                                                                \
    ANALYSIS(Allocations)                                                                                \
    ANALYSIS(Growth)                                                                                     \
    ANALYSIS(Fragmentation)

#define GPUPROF_ANALYSES_OF_MEASUREMENTS(GROUP, ANALYSIS)                                                \
    GROUP("Samples and energy", "Of device metrics over time.")                                          \
    ANALYSIS(Samples)                                                                                    \
    ANALYSIS(Energy)                                                                                     \
    ANALYSIS(StepEnergy)                                                                                 \
    GROUP("Kernels with counters",                                                                       \
          "`limits` has one line for each kernel and `kernel` one kernel in full; `advice` is what our " \
          "rules say, `tool_advice` what Nsight Compute says; `metrics` has every counter, `counters` "  \
          "the best known.")                                                                             \
    ANALYSIS(Kernel)                                                                                     \
    ANALYSIS(Limits)                                                                                     \
    ANALYSIS(Advice)                                                                                     \
    ANALYSIS(ToolAdvice)                                                                                 \
    ANALYSIS(Counters)                                                                                   \
    ANALYSIS(MetricRows)                                                                                 \
    ANALYSIS(Stalls)                                                                                     \
    ANALYSIS(Roofline)                                                                                   \
    ANALYSIS(Occupancy)                                                                                  \
    ANALYSIS(OccupancyCurves)                                                                            \
    ANALYSIS(Source)                                                                                     \
    ANALYSIS(LineStalls)                                                                                 \
    GROUP("Every event", "In start order.")                                                              \
    ANALYSIS(GpuTrace)                                                                                   \
    ANALYSIS(ApiTrace)                                                                                   \
    ANALYSIS(OsTrace)                                                                                    \
    ANALYSIS(RangeTrace)                                                                                 \
    ANALYSIS(MemoryTrace)                                                                                \
    GROUP("The recording", "What was lost, and what cannot be true.")                                    \
    ANALYSIS(LossRows)                                                                                   \
    ANALYSIS(Validity)

namespace gpuprof::inline tables {

#define GPUPROF_ANALYSIS_DECLARE(Name) extern const Analysis k##Name;
#define GPUPROF_NO_GROUP(heading, doc)
GPUPROF_ANALYSES_OF_WORK(GPUPROF_NO_GROUP, GPUPROF_ANALYSIS_DECLARE)
GPUPROF_ANALYSES_OF_MEASUREMENTS(GPUPROF_NO_GROUP, GPUPROF_ANALYSIS_DECLARE)
#undef GPUPROF_NO_GROUP
#undef GPUPROF_ANALYSIS_DECLARE

}  // namespace gpuprof::tables
