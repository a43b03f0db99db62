// The process that samples counters beside a recorded command: it alone loads CUPTI, talks to the driver and writes the
// capture, so that a driver that hangs or crashes reaches neither the command nor the launcher. It is the program itself
// with a hidden argument (collect/device/process_link.h) and ends when the socket does.
#pragma once

namespace gpuprof::pm {

inline constexpr const char* kCounterArgument = "--counter-process";

// Serves one request; the process's exit status.
int run_counter_process();

}  // namespace gpuprof::pm
