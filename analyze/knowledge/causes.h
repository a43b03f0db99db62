// What can limit a kernel, and why a device can be idle: the two closed lists used by shares, rules and verdicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuprof::inline knowledge {

// What limits a kernel.
enum class Bound : std::uint8_t { compute, memory, underfilled, communication, migration, unknown };
inline constexpr std::size_t kBounds = 6;

// "compute", "memory", "underfilled", "communication", "migration", "unknown".
std::string_view name_of(Bound bound);

// Why a device is idle.
enum class IdleCause : std::uint8_t {
    input_pipeline,
    host_compute,
    launch,
    synchronisation,
    host_memcpy,
    allocation,
    compilation,
    communication_wait,
    profiler,
    nothing_submitted,
    unrecorded_work,  // work was submitted or waited for, and none was recorded: it is missing, or another context ran
    waiting,          // the host slept until a request, a frame or a message came
    graph,            // between two nodes of one launched CUDA graph: no call of the host could have filled it
    unknown,
};
inline constexpr std::size_t kIdleCauses = 14;

// "input pipeline", "host compute", ...
std::string_view name_of(IdleCause cause);

}  // namespace gpuprof::knowledge
