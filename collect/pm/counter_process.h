// The process that samples counters alongside a recorded command. Only this process loads CUPTI, talks to the driver
// and writes the capture, so that a driver that hangs or crashes affects neither the command nor the launcher. It is
// the same program with a hidden argument (collect/device/process_link.h), and it ends with the socket.
#pragma once

namespace gpuprof::pm {

inline constexpr const char* kCounterArgument = "--counter-process";

// Serves one request; returns the exit status.
int run_counter_process();

}  // namespace gpuprof::pm
