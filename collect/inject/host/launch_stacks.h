// The stack of each launch of a kernel or graph (--launch-stacks): Python's frames and native ones, read on the calling
// thread at the beginning of the call. A stack is written once, as an event of the thread's ring, and each launch refers
// to it by its id. Native frames are addresses here; the launcher finds their names (io/importers/spool/spool_launch_stacks.h).
//
// This is the one part of the collector that allocates on the program's threads: a launch is no place where a program
// may not.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

// Why Python frames are missing from stacks: "" if they are not, or if the process has no CPython.
const char* python_refusal() noexcept;

struct LaunchReader;  // what one thread needs to read its stacks

// Whether the function of this name, as CUPTI spells it, launches.
bool is_launch_function(const char* name) noexcept;

// Loads what unwinding needs, which is not possible within a call. Before the first launch.
void prepare_launch_stacks() noexcept;

class EventRing;
// The id of the calling thread's stack, which is written if it is new; 0 if it is not recorded, which is counted. `ring` is
// the thread's own.
std::uint64_t stack_of_this_thread(EventRing& ring) noexcept;

// At the entry and the exit of the call. `opening` numbers the times that callbacks were switched on.
void enter_launch(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept;
void leave_launch(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept;

// Launches without their stack, because too many different ones came before.
std::uint64_t launches_without_stack() noexcept;

}  // namespace gpuprof::inject
