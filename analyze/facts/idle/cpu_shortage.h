// Why threads had to wait for a CPU, as far as a recording tells, in sentences. What the system counts as waiting has several
// causes: other threads on the same CPUs, a CPU quota (whose periods are counted apart), and a hypervisor that ran another
// virtual machine while a thread occupied the CPU. A thread that spins while it waits for the device waits for a CPU, too:
// that it waited does not say that the device did.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

// A thread that launches device work: how long it waited for a CPU, of the time in which that was counted.
struct CpuShortage {
    std::string_view thread;
    DurNs ready = 0, seen = 0;
};

// At most one sentence about the thread, if it waited a tenth of the time or more, and one about a quota that was used up.
std::vector<std::string> cpu_shortage_notes(const Facts& facts, const std::optional<CpuShortage>& launcher);

}  // namespace gpuprof::facts
