// Warp samples as rows of the table instruction_counter, with source lines by our own reader of cubins. Whatever has no
// line says why: the module was not kept, or was compiled without line information, or does not contain the function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collect/counters/counter_wire.h"
#include "collect/counters/spooled_samples.h"
#include "core/base/result.h"

namespace gpuprof::counters {

struct SampleRequest {
    std::string part;         // the capture to write
    bool with_trace = false;  // the samples are of another run than the trace that the capture is merged with
    std::vector<TracedProcess> processes;  // of that trace, with kernels
};

struct SampleReport {
    std::uint64_t samples = 0, with_line = 0, instructions = 0;
    std::uint64_t counted = 0, counted_with_line = 0;  // instructions with counters
    std::vector<std::string> remarks;                  // what is missing, as sentences
};

Result<SampleReport> write_samples(const SpooledSamples& spooled, const SampleRequest& request);

// The same process in the trace: its only one, or that of the same rank; "" if neither is known.
std::string process_in_trace(const std::vector<TracedProcess>& processes, std::int64_t rank);

}  // namespace gpuprof::counters
