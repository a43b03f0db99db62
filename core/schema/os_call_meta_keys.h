// What `record --os-calls` leaves: keys of the `meta` table, which `os_calls` reads, and until then the logs of processes.
#pragma once

namespace gpuprof::inline schema::meta_key {

// The shortest call that became a row, in ns.
inline constexpr const char* kOsCallsLeastNs = "os_calls.least_ns";
// Then the name of a function: the number of its shorter calls and the sum of their durations in ns, over all processes:
// "1204 33001000".
inline constexpr const char* kShortOsCalls = "os_calls.short.";

// How the name of a process's log in the folder of the recording ends (collect/os_calls/os_call_log.h).
inline constexpr const char* kOsCallLogSuffix = ".oscalls";
// What all processes share (SharedCounts), in the same folder.
inline constexpr const char* kOsCallShare = "os_calls.shared";

}  // namespace gpuprof::schema::meta_key
