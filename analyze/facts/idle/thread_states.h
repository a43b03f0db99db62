// What host threads did, as far as the driver and the operating system tell: they waited for the device, were ready without
// a CPU or in a traced system call, or used the CPU or not: exactly if their scheduling was recorded, else in the intervals in
// which their use was sampled. Threads without any of these are omitted: what their operators and calls say is drawn as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

// The first that holds counts. Of a sampled interval only the CPU time is known, not when it was used.
enum class ThreadState : std::uint8_t { waits_for_device, waits_for_cpu, system_call, runs, runs_partly, sleeps };
inline constexpr std::size_t kThreadStates = 6;

std::string_view name_of(ThreadState state);  // "waits for the device"

struct ThreadStates {
    std::map<StringId, std::array<IntervalSet, kThreadStates>> of_thread;  // disjoint, by ThreadState
    static ThreadStates make(const Facts& facts);
};

}  // namespace gpuprof::facts
