// Which kernels of a recording are worth measuring: those with the longest total time, each shape apart, as many as the
// budget allows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof::inline cli {

struct KernelToMeasure {
    std::string name;
    std::array<std::int32_t, 3> grid{}, block{};
    std::int64_t launches = 0;  // in the recording
    DurNs total = 0, typical = 0;
    std::int32_t registers = 0;  // 0: unknown, as shared_bytes
    std::int64_t shared_bytes = 0;
    DurNs cost = 0;  // expected time of measuring all wanted launches
};

struct KernelChoices {
    std::vector<KernelToMeasure> chosen;
    std::vector<KernelToMeasure> left_out;  // no room in the budget
    std::vector<std::string> collectives;   // names of kernels that wait for other GPUs
    DurNs kernel_time = 0;                  // of the whole recording
    DurNs cost = 0;
    std::int64_t memory_bytes = 0;  // most that was in use; 0: unknown
};
struct ChoiceLimits {
    std::string pattern;  // "": every kernel
    std::int64_t launches = 3, skip = 0;
    std::uint64_t passes = 1;
    DurNs budget = 0;  // 0: unlimited
};
Result<KernelChoices> choose_kernels(const Trace& trace, const ChoiceLimits& limits);

// What will be measured and what it will cost, as text.
std::string describe(const KernelChoices& choices, const ChoiceLimits& limits);

}  // namespace gpuprof::cli
