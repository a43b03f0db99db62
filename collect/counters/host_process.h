// The process in which CUPTI's host interface is called: planning needs the driver, evaluation trusts images, and a lock
// of the clocks must outlive the program. One request per process.
#pragma once

namespace gpuprof::counters {

// The hidden argument that starts it.
inline constexpr const char* kHostArgument = "--kernel-counter-process";
int run_host_process();

}  // namespace gpuprof::counters
