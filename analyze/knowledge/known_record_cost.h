// The overhead of a recorder's records in the recorded program.
#pragma once

#include <string_view>

#include "core/base/ids.h"

namespace gpuprof::inline knowledge {

// Lower bound of a thread's time to write one host record; 0 if unknown.
struct RecordCost {
    DurNs op_or_call = 0, python_call = 0;
};

// Measured for torch.profiler on an H200. Operators and calls: a step with 1,200 kernels and 2,400 such records took
// 8.7 to 18.7 ms longer with it (CPU and CUDA), 3.6 to 7.8 us per record. Python calls: an AdamW.step with 1,204 of
// them took 2.43 and 3.24 ms with with_stack, 1.10 to 1.23 ms without, 1.0 to 1.8 us per call.
constexpr RecordCost record_cost(std::string_view tool) {
    return tool == "torch.profiler" ? RecordCost{2'000, 1'000} : RecordCost{};
}

// An estimate in ns with the range that measurements allow.
struct EstimatedNs {
    DurNs low = 0, central = 0, high = 0;
};

// What a record of each kind costs the thread that it is about, and what a device op waits longer because its times are recorded.
// All 0 if unknown. For replays, which need an estimate and its range where RecordCost is a bound.
struct RecordPrice {
    EstimatedNs call, op, python, memory, device_op;
};

// torch.profiler on an H200 with CUDA 13: calls and operators fitted to small_kernels (14.8 ms a step without it, 23.9 ms with it),
// Python and memory records to one transformer with and without stacks, device ops to a CUDA graph (1.96 ms and 2.11 ms a step).
// Recorders that use CUPTI's activity records alone pay for calls and device ops.
constexpr RecordPrice record_price(std::string_view tool) {
    constexpr EstimatedNs kCall{250, 360, 750}, kDeviceOp{150, 250, 400};
    if (tool == "torch.profiler")
        return {kCall, {1'500, 2'600, 3'200}, {1'500, 2'500, 3'500}, {1'500, 2'500, 3'500}, kDeviceOp};
    if (tool.find("Nsight Systems") != tool.npos || tool.starts_with("gpu-profile"))
        return {kCall, {}, {}, {}, kDeviceOp};
    return {};
}

}  // namespace gpuprof::knowledge
