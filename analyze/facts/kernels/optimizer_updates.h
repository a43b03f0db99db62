// The updates of PyTorch's optimizers: the ranges around their steps, and the calls and kernels within.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct OptimizerUpdate {
    StringId thread = kNoString;
    Interval host, device;  // device: from its first kernel to the end of its last
    std::size_t kernels = 0;
    Row first_call = kNoRow;
};

struct OptimizerUpdates {
    std::string optimizer;  // its class: "AdamW"
    std::vector<OptimizerUpdate> all;
    std::vector<std::uint32_t>
        update_of_call;  // by row of api_call: an index in `all`, or kNoRow; empty without updates

    std::uint32_t of_call(Row call) const { return call < update_of_call.size() ? update_of_call[call] : kNoRow; }
    // Whether they update one tensor at a time: not those of foreach and fused optimizers, which run few kernels.
    bool by_tensor = false;
    static OptimizerUpdates make(const Facts& facts);
};

}  // namespace gpuprof::facts
