// `ranks reduce`: the recording of one rank as a capture that holds only its summary. `ranks` starts it for every file,
// in a process of its own: a file that crashes a reader or asks for too much memory costs that rank only.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"
#include "ranks/reduce/reduce.h"

namespace gpuprof::inline cli {

// What reading one file takes at most, in bytes, without --memory: what does not fit goes to a file.
inline constexpr std::uint64_t kReduceMemory = 256'000'000;

// Summaries of other versions are made again.
inline constexpr const char* kReducerVersion = "10";

// `memory`: a limit of the process in bytes, 0 without one. `file` has what is known of it besides its path.
Result<ExitCode> reduce_file(RankFile file, std::uint64_t memory, const Options& options, const ReadLimits& limits,
                             const std::string& output);

}  // namespace gpuprof::cli
