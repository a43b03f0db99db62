// Counters of instructions, summed by kernel and source line: warp samples by stall reason, and what the vendor counts per
// instruction. Instructions without a line are one entry per kernel, or one each if the recording has their text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/knowledge/kernel_metrics.h"
#include "core/base/string_pool.h"

namespace gpuprof::inline facts {

class Facts;

struct SourceLineCounters {
    StringId function = kNoString, file = kNoString;
    std::optional<std::int32_t> line;
    std::int32_t device = -1;
    StringId instruction = kNoString;  // disassembled; of an entry that is one instruction
    std::int64_t offset = -1;          // of that instruction
    std::int64_t instructions = 0;     // with any counter
    // Warp samples by stall reason; `samples` is their sum. Samples in which the warp's scheduler issued nothing are a subset
    // of the others and therefore not counted again.
    std::map<std::string_view, double> reasons;
    double samples = 0;
    // Absent if not counted. Sectors: 32 bytes each, of global memory; wavefronts: of shared memory. Ideal: what the same
    // instructions would need with perfect access patterns.
    std::optional<double> executed, sectors, ideal_sectors, wavefronts, ideal_wavefronts;
};

struct SourceLines {
    std::vector<SourceLineCounters> lines;  // most samples first, then most sectors
    std::map<StringId, double> samples_by_function;
    std::map<StringId, std::map<std::string_view, double>> reasons_by_function;
    double samples = 0;
    static SourceLines make(const Facts& facts);
};

// Warp samples of a function, over all its launches, in the form of counters of a launch. Sorted by metric; every reason, because a reason without samples was looked for too. Empty if the function has no samples.
std::vector<std::pair<KernelMetric, double>> samples_as_counters(const SourceLines& lines, StringId function);

}  // namespace gpuprof::facts
