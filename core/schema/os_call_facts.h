// Keys of the `meta` table about calls of the operating system (`record --os-calls`), which the recorder writes and
// `os_calls` reads.
#pragma once

namespace gpuprof::fact {

// The shortest call that became a row, in ns.
inline constexpr const char* kOsCallsLeastNs = "os_calls.least_ns";
// Then the name of a function: the number of its shorter calls and the sum of their durations in ns, over all processes:
// "1204 33001000".
inline constexpr const char* kShortOsCalls = "os_calls.short.";

}  // namespace gpuprof::fact
