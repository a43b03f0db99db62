// Keys of the `meta` table that one part of gpu-profile writes and another reads. All other keys are only displayed.
#pragma once

namespace gpuprof::inline schema::meta_key {

// The tool that wrote the file. In a file merged from parts, the first entry applies to all.
inline constexpr const char* kTool = "tool";
inline constexpr const char* kRecorderTool = "gpu-profile record";
// Said wherever the recorder's own results are shown; "" as soon as a report of tests/gpu is in. README.md and the page of
// `record` have the same words, which tools/check_gpu_figures.py compares.
inline constexpr const char* kRecorderUntried = "the recorder has not run on a GPU yet";
inline constexpr const char* kSamplerTool = "gpu-profile sampling";
inline constexpr const char* kFlightRecorderTool = "PyTorch flight recorder";

// CPU time in ns used by the library inside a recorded process. One row per process.
inline constexpr const char* kOnProgramThreads = "recorder_ns_on_program_threads";
inline constexpr const char* kOnOwnThread = "recorder_ns_on_own_thread";
// The thread of that library, by the id of the system. Its calls of CUDA are not the program's.
inline constexpr const char* kRecorderThread = "recorder_thread";
// What CUPTI's record of a call cost the calling thread, in ns, as the library measured it in that process; or why it could not.
inline constexpr const char* kCallRecordNs = "call_record_ns";
inline constexpr const char* kCallRecordLowNs = "call_record_low_ns";
inline constexpr const char* kCallRecordHighNs = "call_record_high_ns";
inline constexpr const char* kCallRecordUnknown = "call_record_unknown";
// Another CUPTI client in that process: the number of records it also received; "1" if CUPTI was left to it.
inline constexpr const char* kGivenToOther = "records_given_to_other_client";
inline constexpr const char* kYielded = "cupti_yielded";
// Which interface of CUPTI that process used: "V2" if several subscribers can record at once, else "V1".
inline constexpr const char* kCuptiInterface = "cupti_interface";
// With V2: how many clients of V1 were given a subscription of their own, and the name of a tool that was there first.
inline constexpr const char* kOtherSubscriptions = "other_cupti_subscriptions";
inline constexpr const char* kFirstSubscriber = "first_cupti_subscriber";
// With V2: a profiler of V1 in the process that CUPTI refuses, because its calls do not arrive in the recorder.
inline constexpr const char* kKeptOut = "client_kept_out_of_cupti";
// Whether streams and events of calls that order streams were recorded: "recorded", or why not, as a sentence's end.
inline constexpr const char* kStreamCalls = "stream_calls";
inline constexpr const char* kStreamCallsRecorded = "recorded";
// Whether stacks of launches were recorded, likewise; and why Python's frames are missing from them, as a sentence's end.
inline constexpr const char* kLaunchStacks = "launch_stacks";
inline constexpr const char* kNoPythonFrames = "no_python_frames";
// How many device ops of CUDA graphs recordings of their captures named, and why not all, as a sentence.
inline constexpr const char* kNamedGraphOps = "named_graph_ops";
// Cycles between samples of warps.
inline constexpr const char* kStallPeriod = "stall_period_cycles";
// CLOCK_REALTIME in ns when the recording window last closed.
inline constexpr const char* kWindowClosedAt = "window_closed_at";

// A process that kept only some of its steps: each of them (core/model/build/kept_steps.h), what it saw in a sentence, and the
// same of a process that had no steps.
inline constexpr const char* kKeptStep = "kept_step";
inline constexpr const char* kSlowSteps = "slow_steps";
inline constexpr const char* kNoSteps = "no_steps";

// How a device's clock was aligned with the host's, as a sentence. It contains this word if times were changed.
inline constexpr const char* kDeviceClock = "device_clock";
inline constexpr const char* kClockMoved = "moved";

// Why nothing can be concluded from the times of the device's work, as a sentence: what was found before rows were repaired.
inline constexpr const char* kContradiction = "contradiction";

// Records of a process that are missing from the tables because another kind of loss counts them (untimed_op,
// unfinished_op). For calls, also those outside the recording windows whose work reached into a window.
inline constexpr const char* kCountedKernels = "kernels_counted_as_lost";
inline constexpr const char* kCountedGraphs = "graphs_counted_as_lost";
inline constexpr const char* kCountedCopies = "copies_counted_as_lost";
inline constexpr const char* kCountedCalls = "calls_counted_as_lost";

// Facts about processes. A job read from several files has several of each; they are added up.
inline constexpr const char* kProcessFacts[] = {
    kOnProgramThreads,   kOnOwnThread,       kGivenToOther, kYielded,       kCuptiInterface,
    kOtherSubscriptions, kFirstSubscriber,   kStreamCalls,  kDeviceClock,   kCountedKernels,
    kCountedGraphs,      kCountedCopies,     kCountedCalls, kCallRecordNs,  kCallRecordLowNs,
    kCallRecordHighNs,   kCallRecordUnknown, kLaunchStacks, kNoPythonFrames};

}  // namespace gpuprof::schema::meta_key
