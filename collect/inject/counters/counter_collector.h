// Kernel counters of this process: carries out the plan in FOLDER/counters.plan (core/format/counter_plan.h). Replaces
// the recording of device work, because it is unknown whether CUPTI's activity records work together with its range profiler.
//
// In kernel scope, CUPTI calls back before and after each launch of the driver; a wanted one runs between Start and
// Stop of the range profiler, which replays it. In range scope the capture window is the range. One measurement at a
// time: launches of other threads wait, because they would be measured too.
#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Whether there is a plan; read once. A damaged one is as none.
bool counters_planned() noexcept;
// Within cuInit, instead of recording device work. What cannot be done is in counters_refusal().
void start_counters() noexcept;
// A sentence; "" if nothing was refused.
const char* counters_refusal() noexcept;
// The window opened or closed, on this thread.
void switch_counter_range(bool open) noexcept;
// On the spool thread, regularly: kills this process if a replay hangs, after saying which.
void watch_counters(std::int64_t now) noexcept;
// On the spool thread, at the end.
void finish_counters() noexcept;
// In a forked child: CUPTI does not work there.
void forget_counters() noexcept;

}  // namespace gpuprof::inject
