// The collector of one process: a spool file and the thread that fills it. Everything the program's own threads do is
// appending; this thread moves what they left to the file, every few milliseconds, and flushes CUPTI four times a second.
// Phases only go forward: dormant, running, ended. In a child of fork() it is ended from the start.
#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Starts it, once per process; whether it runs. Cheap when it was decided before. Any thread.
bool start_collector() noexcept;
// Whether annotations and records are wanted now.
bool recording() noexcept;

}  // namespace gpuprof::inject
