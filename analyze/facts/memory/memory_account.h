// The memory that NVML reports as used on a device at one moment, divided into parts that add up to it exactly. No part
// is clipped: if the sources contradict each other, a remainder is negative, and its uncertainty says by how much.
//
//   used = for each recorded process: allocated + cached + calls + rest
//          + other processes + rest of the device
//
// Without the memory of processes, one remainder (`not_attributed`) takes the place of all rests and other processes.
// NVML lists processes about once a second. The rest of a process (CUDA context, code, unrecorded allocations) is taken
// from the list that leaves the least change of `used` unexplained, and assumed not to have changed since.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/facts/memory/device_memory.h"

namespace gpuprof::inline facts {

struct ProcessAccount {
    const ProcessMemory* memory = nullptr;
    std::optional<std::int64_t> allocated, cached;  // by a framework's allocator
    std::optional<std::int64_t> calls;              // other allocations by CUDA calls
    std::int64_t calls_may_be_segments = 0;         // so much more of them would be, if `cached` did not contain it
    std::optional<std::int64_t> listed, rest;       // by NVML at `listed_at`; carried over to `at`
    // explain(): if the rest is negative: the least shift of the recorded allocations (below 0: earlier) for which it is not; absent
    // if there is none within a second.
    std::optional<DurNs> agrees_after;

    std::int64_t recorded() const { return allocated.value_or(0) + cached.value_or(0) + calls.value_or(0); }
};

struct MemoryAccount {
    TimeNs at = 0;
    std::optional<std::int64_t> used;
    std::vector<ProcessAccount> processes;
    std::vector<std::pair<std::int64_t, std::int64_t>> others;  // pid and bytes of processes that were not recorded
    std::optional<std::int64_t> device_rest, not_attributed;
    std::optional<TimeNs> listed_at;  // when NVML listed the processes
    std::int64_t unexplained = 0;  // change of `used` between `listed_at` and `at` that no recorded allocation explains
    std::int64_t churn = 0;        // explain(): how much recorded memory changed within kSampleTolerance_ns
    std::string reason;            // why nothing is attributed to processes
};

// The sampler reads several values of NVML one after the other, and gives all of them one time.
inline constexpr DurNs kSampleTolerance_ns = 10'000'000;
// Lists of processes that are further away say nothing about a moment.
inline constexpr DurNs kMaxListDistance_ns = 2'000'000'000;

// `used`: NVML's sample at that time; absent if there is none.
MemoryAccount account_at(const DeviceMemory& memory, TimeNs at, std::optional<std::int64_t> used);

// The first sample at which most memory was used; without samples, when most recorded memory was held. Absent if
// nothing was recorded.
std::optional<MemoryAccount> account_at_peak(const DeviceMemory& memory);
// The account of the sample nearest to `time`; without samples, of `time` itself.
MemoryAccount account_near(const DeviceMemory& memory, TimeNs time);
// Adds how certain the parts are.
void explain(MemoryAccount& account);

}  // namespace gpuprof::facts
