// Keys of the `meta` table that one part of gpu-profile writes and another reads; every other key is only shown.
#pragma once

namespace gpuprof::fact {

// Who made the file; in a file merged from parts the first speaks for all.
inline constexpr const char* kTool = "tool";
inline constexpr const char* kRecorderTool = "gpu-profile record";
inline constexpr const char* kSamplerTool = "gpu-profile sampling";

// Of the library inside a recorded process, one row per process: what it took, in ns of CPU time.
inline constexpr const char* kOnProgramThreads = "recorder_ns_on_program_threads";
inline constexpr const char* kOnOwnThread = "recorder_ns_on_own_thread";
// Another client of CUPTI in that process: records that it got as well; "1" when CUPTI was left to it.
inline constexpr const char* kGivenToOther = "records_given_to_other_client";
inline constexpr const char* kYielded = "cupti_yielded";
// CLOCK_REALTIME in ns when the window of the recording closed for the last time.
inline constexpr const char* kWindowClosedAt = "window_closed_at";

// How the clock of a device was laid beside the host's, as a sentence that has this word when its times were changed.
inline constexpr const char* kDeviceClock = "device_clock";
inline constexpr const char* kClockMoved = "moved";

// Records of a process that are missing from the tables and are counted as losses of another kind (untimed_op, unfinished_op); calls
// also those outside the windows of the recording whose work reached into one.
inline constexpr const char* kCountedKernels = "kernels_counted_as_lost";
inline constexpr const char* kCountedGraphs = "graphs_counted_as_lost";
inline constexpr const char* kCountedCopies = "copies_counted_as_lost";
inline constexpr const char* kCountedCalls = "calls_counted_as_lost";

// Facts of processes: of a job read from several files there are several of each, and they are added up.
inline constexpr const char* kOfProcesses[] = {kOnProgramThreads, kOnOwnThread,   kGivenToOther,
                                               kYielded,          kDeviceClock,   kCountedKernels,
                                               kCountedGraphs,    kCountedCopies, kCountedCalls};

}  // namespace gpuprof::fact
