// What the spool thread writes besides CUPTI's buffers, one chunk each (core/format/spool.h).
#pragma once

#include "collect/inject/state.h"

namespace gpuprof::inject {

// The annotations that lie in the rings of all threads.
void write_events(Collector& c) noexcept;
void write_clock(Collector& c) noexcept;
// Only when a count has changed; buffers that CUPTI has kept are missing `at_end` alone.
void write_losses(Collector& c, bool at_end) noexcept;
void write_facts(Collector& c) noexcept;
// All names that were given before this file was begun.
void write_names_so_far(Collector& c) noexcept;
// When the window was open, as far as it is news.
void write_windows(Collector& c) noexcept;

}  // namespace gpuprof::inject
