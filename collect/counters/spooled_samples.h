// The warp samples and counters of instructions in spool files, added up by process, GPU and instruction, and the cubins
// that they belong to (core/format/spool.h). What does not fit together is counted, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/format/chunk_reader.h"
#include "core/format/spool.h"

namespace gpuprof::counters {

struct SpooledCubin {
    std::uint64_t crc = 0, hash = 0, bytes = 0;
    std::string image;  // empty: not kept, or damaged
};

// Of one process and one GPU.
struct SampleTotals {
    std::uint64_t samples = 0, dropped = 0,
                  others = 0;  // as CUPTI counts them: all; dropped; of kernels without records
    std::uint64_t reads = 0, full_reads = 0,
                  unread = 0;  // times that its buffer had overflowed; that records were left
    std::uint32_t period = 0;  // 2^period cycles between samples
};

struct SampledInstruction {
    std::size_t process = 0;  // in SpooledSamples
    std::uint32_t device = 0;
    std::uint64_t cubin = 0;  // crc
    std::string function;     // as in the cubin
    std::uint64_t offset = 0;
    auto operator<=>(const SampledInstruction&) const = default;
};

struct SampledProcess {
    std::string key;
    std::int64_t rank = -1;  // in a distributed job; -1: none
    std::map<std::uint32_t, SampleTotals> devices;
};

struct SampleFailure {
    std::string function;
    std::uint32_t code = 0, device = 0;
    bool operator==(const SampleFailure&) const = default;
};

struct SpooledSamples {
    std::vector<SampledProcess> processes;                                      // with any chunk about samples
    std::map<SampledInstruction, std::map<std::string, std::uint64_t>> counts;  // by reason, without CUPTI's prefix
    // Counters of instructions (SASS metrics), by name, over all launches that were measured.
    std::map<SampledInstruction, std::map<std::string, std::uint64_t>> counters;
    std::map<std::string, std::string> units;  // of these
    std::vector<SpooledCubin> cubins;
    std::vector<SampleFailure> failures;  // each once
    std::vector<std::string> refused;     // sentences of files with samples
    std::uint64_t damaged = 0;            // records that do not fit

    bool any() const { return !processes.empty(); }
};

// Adds what a file holds; damaged chunks are missing.
Status read_samples(const std::string& file, SpooledSamples& to);
Status read_samples(ByteInput& input, SpooledSamples& to);

// The reason in CUPTI's name of it: long_scoreboard of smsp__pcsamp_warps_issue_stalled_long_scoreboard.
std::string stall_reason(std::string_view name);

}  // namespace gpuprof::counters
