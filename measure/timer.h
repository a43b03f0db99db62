// How one sample is taken: the interface of the timers. A timer times a batch of calls; it knows nothing about warm-up,
// statistics or when to stop (run.h). There are two: CUDA events (cuda_timer.h) and the host clock (host_timer.h). One
// thread at a time uses a timer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "measure/peak.h"

namespace gpuprof::measure {

// The function under test, in any language. Both functions return 0 to continue; any other value ends the run.
struct Work {
    using Function = int (*)(void* user);
    std::string name = "work";
    Function call = nullptr;
    Function prepare = nullptr;  // before every call, not timed; may be null
    void* user = nullptr;
};

// Calls work.call or work.prepare; an error names the work and its return value.
Status call(const Work& work, Work::Function function);

// The host clock and its sleep, replaceable by tests.
struct HostClock {
    TimeNs (*now)() = nullptr;
    void (*sleep)(DurNs) = nullptr;
};
HostClock real_clock();

// One sample.
struct TimedSample {
    double ns = 0;       // per call
    double host_ns = 0;  // host time per call
    // Time that the device worked after the last event of the stream: work on other streams. Only in warm-up shots.
    double stray_ns = 0;
    bool valid = true;  // false: the sample is unusable (the block timed out) and must be repeated
};

struct DeviceMemory {
    std::uint64_t free_bytes = 0, total_bytes = 0;
};

class Timer {
public:
    virtual ~Timer() = default;
    virtual std::string_view name() const = 0;  // "cuda events", "host"
    virtual const HostClock& clock() const = 0;
    // Maximum batch size; 1: calls cannot be batched (the cache is flushed before each).
    virtual std::int64_t max_batch(const Work& work) const = 0;
    // Shorter samples are dominated by the timer's resolution.
    virtual DurNs min_sample_time() const = 0;
    // Called once before a run, on its thread.
    virtual Status start() = 0;
    // One plain call, for the warm-up.
    virtual Result<TimedSample> warm_up(const Work& work) = 0;
    // After the warm-up: prepares batches of `batch` calls (captures a graph, for example).
    virtual Status set_up(const Work& work, std::int64_t batch) = 0;
    virtual Result<TimedSample> sample(const Work& work, std::int64_t batch) = 0;
    // A limit found during sampling: the batch size to continue with, at most `batch`.
    virtual std::int64_t usable_batch(std::int64_t batch) const = 0;
    // Frees the resources of set_up().
    virtual void finish() = 0;
    // Remarks for the reader of the result; grows during sampling.
    virtual std::vector<std::string> notes() const = 0;

    // Facts for the result.
    virtual bool flushes() const = 0;
    virtual bool replays_graph() const = 0;
    virtual bool blocks() const = 0;
    virtual std::string device_name() const = 0;  // "" for the host
    virtual std::int32_t device() const = 0;      // -1 for the host
    virtual std::optional<Hardware> hardware() const = 0;
    virtual Result<DeviceMemory> memory() = 0;
};

// Times with the host clock (CLOCK_MONOTONIC), for CPU functions and for machines without a GPU. Always labelled
// `host`: for GPU work it would time the enqueueing (docs/how-it-works/benchmarking-method.md).
std::unique_ptr<Timer> make_host_timer(const HostClock& clock = real_clock());

// How long each thread of this process has run and has waited for a CPU, by its number; empty if the kernel does not
// count it (/proc/self/task/*/schedstat).
struct ThreadTime {
    DurNs run = 0, ready = 0;
};
std::map<std::int32_t, ThreadTime> thread_times();

}  // namespace gpuprof::measure
