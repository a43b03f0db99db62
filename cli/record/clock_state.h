// How well the system clock of this machine is synchronised, as the kernel reports it (adjtimex(2)); reading it needs no
// privilege. Across machines this bounds how far their times may be compared.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline cli {

struct ClockState {
    std::string unknown;                                                   // why nothing below is known; "" if it is
    bool synchronised = false;                                             // by NTP or PTP
    std::int64_t offset_ns = 0, max_error_ns = 0, estimated_error_ns = 0;  // the offset is still being corrected
    double frequency_ppm = 0;                                              // correction of the clock's rate
};

ClockState read_clock_state();

// Adds rows clock.WHEN.synchronised, .offset_ns, .max_error_ns, .estimated_error_ns and .frequency_ppm, or .unknown.
void add_clock_facts(Batch& facts, const char* when, const ClockState& state);

}  // namespace gpuprof::cli
