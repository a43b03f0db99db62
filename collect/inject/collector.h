// The collector of one process: a spool file and the thread that fills it. The program's own threads only append; the
// spool thread moves what they left to the file every few milliseconds, and flushes CUPTI four times a second. Phases
// only advance: dormant, running, ended. A forked child starts over.
#pragma once

#include <cstdint>

#include "collect/inject/settings.h"
#include "collect/inject/steps/step_watch.h"
#include "collect/inject/steps/window.h"

namespace gpuprof::inject {

// Starts it once per process; returns whether it runs. Cheap if already decided. Thread-safe.
bool start_collector() noexcept;
// Before the process ends: waits until everything is written, at most two seconds. Thread-safe, and safe in a signal
// handler.
void end_collector() noexcept;
// The driver was started: its exit handler, after which CUPTI delivers nothing, may come after ours, and handlers run in
// reverse order. So ours is registered once more. Thread-safe.
void watch_exit() noexcept;
// Whether the collector runs; the window decides whether records are wanted now.
bool recording() noexcept;
Window& window() noexcept;
StepWatch& step_watch() noexcept;

// Device work.
bool will_record_device() noexcept;  // recorded now, or as soon as CUDA starts
bool device_recording() noexcept;    // CUPTI is ours
void yield_device() noexcept;        // another client owns CUPTI from now on
bool yield_callbacks() noexcept;     // another client subscribes to callbacks; false: the subscription stays ours

// The id of a CUstream or cudaStream_t in the current context; returns whether it is known.
bool stream_id(void* stream, std::uint32_t& id) noexcept;

}  // namespace gpuprof::inject
