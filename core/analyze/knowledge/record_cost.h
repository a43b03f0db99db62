// What a recorder's records cost the program that is recorded.
#pragma once

#include <string_view>

#include "core/base/ids.h"

namespace gpuprof {

// What making one host record costs the thread that makes it, as a floor; 0 where nothing is known.
struct RecordCost {
    DurNs op_or_call = 0, python_call = 0;
};

// Measured for torch.profiler on an H200. Operators and calls: a step of 1,200 kernels with 2,400 such records took 8.7 to 18.7 ms longer
// with it (CPU and CUDA), 3.6 to 7.8 us a record. Python calls: AdamW.step of 1,204 of them took 2.43 and 3.24 ms with with_stack, 1.10 to
// 1.23 ms without, 1.0 to 1.8 us a call.
constexpr RecordCost record_cost(std::string_view tool) {
    return tool == "torch.profiler" ? RecordCost{2'000, 1'000} : RecordCost{};
}

}  // namespace gpuprof
