// The collector of one process: a spool file and the thread that fills it. Everything the program's own threads do is
// appending; this thread moves what they left to the file, every few milliseconds, and flushes CUPTI four times a second.
// Phases only go forward: dormant, running, ended. A child of fork() begins again.
#pragma once

#include <cstdint>

#include "collect/inject/settings.h"
#include "collect/inject/window.h"

namespace gpuprof::inject {

// Starts it, once per process; whether it runs. Cheap when it was decided before. Any thread.
bool start_collector() noexcept;
// Before the process ends: waits until all there is has been written, two seconds at most. Any thread, also in a signal handler.
void end_collector() noexcept;
// Whether the collector runs; the window tells whether records are wanted now.
bool recording() noexcept;
Window& window() noexcept;

// Of device work.
bool will_record_device() noexcept;  // we do, or shall as soon as CUDA starts
bool device_recording() noexcept;    // CUPTI is ours
void yield_device() noexcept;        // from now on it is another client's

// The id of a CUstream or cudaStream_t in the current context; whether it is known.
bool stream_id(void* stream, std::uint32_t& id) noexcept;

}  // namespace gpuprof::inject
