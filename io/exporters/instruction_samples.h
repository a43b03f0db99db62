// Warp samples of instructions by kernel, source line and stall reason, as the exporters of stacks write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline exporters {

struct InstructionSamples {
    std::string_view kernel, file, reason;  // file "": unknown
    std::int32_t line = 0;                  // 0: unknown
    std::int64_t count = 0;
};

// In order of kernel, file, line and reason. Samples without an issued instruction are part of the others and omitted.
std::vector<InstructionSamples> instruction_samples(const Trace& trace);
bool has_instruction_samples(const Trace& trace);

}  // namespace gpuprof::exporters
