// When threads were ready to run but had no CPU: from the end of a stretch on a CPU that ended by preemption to the
// thread's next one. A wait after a wake-up is not among them, because context switches do not tell when a thread became ready.
// Nor is a wait during which a CPU's records were lost: the thread may have run there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

// How a row of cpu_slice ends (tables.def); a row that is "lost" has no thread.
inline constexpr std::string_view kPreempted = "preempted", kLostSlices = "lost";

struct CpuWaits {
    std::map<StringId, IntervalSet> of_thread;
    IntervalSet lost;  // when records of a CPU are missing
    static CpuWaits make(const Facts& facts);
    // Of that thread, within that part.
    DurNs within(StringId thread, Interval part) const;
};

// Why threads had to wait for a CPU, as far as a recording tells, in sentences. What the system counts as waiting has several
// causes: other threads on the same CPUs, a CPU quota (whose periods are counted apart), and a hypervisor that ran another
// virtual machine while a thread occupied the CPU. A thread that spins while it waits for the device waits for a CPU, too:
// that it waited does not say that the device did.
//
// A thread that launches device work: how long it waited for a CPU, of the time in which that was counted.
struct CpuShortage {
    std::string_view thread;
    DurNs ready = 0, seen = 0;
};

// At most one sentence about the thread, if it waited a tenth of the time or more, and one about a quota that was used up.
std::vector<std::string> cpu_shortage_notes(const Facts& facts, const std::optional<CpuShortage>& launcher);

}  // namespace gpuprof::facts
