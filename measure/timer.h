// How one sample is taken: the interface of the timers. A timer knows how to time a batch of calls; it does not know about
// warm-up, statistics or when to stop (run.h). Two exist: CUDA events (cuda_timer.h) and the host's clock (host_timer.h).
// A timer is used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "measure/peak.h"

namespace gpuprof::measure {

// The function under test, in any language. Both functions return 0 to go on; anything else ends the run.
struct Work {
    using Function = int (*)(void* user);
    std::string name = "work";
    Function call = nullptr;
    Function prepare = nullptr;  // before every call, outside of its time; may be null
    void* user = nullptr;
};

// Calls work.call or work.prepare; an error names the work and its answer.
Status call(const Work& work, Work::Function function);

// The host's clock and its sleep, so that tests bring their own.
struct HostClock {
    TimeNs (*now)() = nullptr;
    void (*sleep)(DurNs) = nullptr;
};
HostClock real_clock();

// One sample.
struct Shot {
    double ns = 0;       // per call
    double host_ns = 0;  // per call, what the host spent on calling
    // Time that the device still worked after the last event of the stream: work that went elsewhere. Only of warm-up shots.
    double stray_ns = 0;
    bool valid = true;  // false: the sample cannot be used (the blocking kernel gave up); take it again
};

struct DeviceMemory {
    std::uint64_t free_bytes = 0, total_bytes = 0;
};

class Timer {
public:
    virtual ~Timer() = default;
    virtual std::string_view name() const = 0;  // "cuda events", "host"
    virtual const HostClock& clock() const = 0;
    // Whether calls can be timed several at a time; 1: they cannot (the cache is flushed before each).
    virtual std::int64_t max_batch(const Work& work) const = 0;
    // Below this a sample is dominated by the timer's resolution.
    virtual DurNs shortest_sample() const = 0;
    // Once before a run, on its thread.
    virtual Status start() = 0;
    // One call without any arrangement: for the warm-up.
    virtual Result<Shot> warm_up(const Work& work) = 0;
    // After the warm-up: whatever `batch` calls need (a captured graph, say).
    virtual Status set_up(const Work& work, std::int64_t batch) = 0;
    virtual Result<Shot> sample(const Work& work, std::int64_t batch) = 0;
    // A limit that showed while sampling: the batch to go on with, at most `batch`.
    virtual std::int64_t usable_batch(std::int64_t batch) const = 0;
    // Frees what set_up() made.
    virtual void finish() = 0;
    // What the reader of the result must know; grows while sampling.
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

// Times by the host's clock (CLOCK_MONOTONIC), for functions of the processor and for machines without a GPU. Always labelled
// `host`: for work on a GPU it would time the enqueueing (docs/how-it-works/benchmarking-method.md).
std::unique_ptr<Timer> make_host_timer(const HostClock& clock = real_clock());

}  // namespace gpuprof::measure
