// What the spool thread writes in addition to CUPTI's buffers, one chunk each (core/format/spool.h).
#pragma once

#include "collect/inject/collector_state.h"

namespace gpuprof::inject {

// The annotations in the rings of all threads.
void write_events(Collector& c) noexcept;
void write_clock(Collector& c) noexcept;
// Written only if a count changed. Buffers that CUPTI still holds count as lost only `at_end`.
void write_losses(Collector& c, bool at_end) noexcept;
// In standby each part is a capture of its own: what was lost so far is not its loss, nor the time spent so far its cost.
void forget_past(Collector& c) noexcept;
void write_facts(Collector& c) noexcept;
// All names that were given before this file was created.
void write_names_so_far(Collector& c) noexcept;
// When the window was open; only what is new.
void write_windows(Collector& c) noexcept;

}  // namespace gpuprof::inject
