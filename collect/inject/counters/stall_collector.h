// Samples of stalled warps of this process, by CUPTI's PC sampling: in addition to the recording of device work or instead
// (settings), in the capture window. Kernels run as usual; nothing is replayed. Samples belong to functions and
// instructions, not to launches.
//
// A context is sampled from the callback that announces it; one context per GPU, because CUPTI samples no more. The spool
// thread ends a span every ten seconds and reads it, so that a killed process loses little.
#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Whether the settings ask for samples.
bool stalls_wanted() noexcept;
// Within cuInit, after CUPTI was started; `callbacks`: whether contexts and modules will be announced.
void start_stalls(bool callbacks) noexcept;
// A callback of CUPTI's resource domain, on a thread of the program.
void on_stall_resource(std::uint32_t cbid, const void* about) noexcept;
// Another client took the callbacks: later contexts and modules are unknown.
void lose_stall_callbacks() noexcept;
// The window opened or closed: the next launch begins or ends a span.
void switch_stalls(bool open) noexcept;
// At the entry of a launch, in its callback. Spans begin and end here: in other threads CUPTI waits for launches, and launches for
// CUPTI, for ever (seen on GPUs: perf-agent, issue 101).
void follow_stalls() noexcept;
// On the spool thread, regularly: the next launch ends the span if it has become long. And at the end.
void drain_stalls(std::int64_t now) noexcept;
void finish_stalls() noexcept;
// In a forked child: CUPTI does not work there.
void forget_stalls() noexcept;

}  // namespace gpuprof::inject
