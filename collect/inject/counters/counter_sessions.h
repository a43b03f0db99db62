// CUPTI around one launch: its range profiler, which counts by replay, and its SASS metrics, which count instructions. Each
// step either works or says which function returned which code.
#pragma once

#include <cstdint>
#include <string_view>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_failure.h"
#include "collect/inject/spool/scratch.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {

// CUPTI's range profiler in one context: configured again for each measurement, with one image that is decoded and
// emptied each time, because it is unknown whether ranges of several sessions accumulate in one image.
// Order of calls: CUPTI's guide, "Range Profiling API".
class RangeSession {
public:
    using Failure = CuptiFailure;

    bool is_open() const noexcept { return object_ != nullptr; }
    void* context() const noexcept { return context_; }
    std::uint32_t device() const noexcept { return device_; }
    // CUPTI did not stop: it may not be started again.
    bool stuck() const noexcept { return stuck_; }
    // Of the context's device; "" if unknown.
    const char* chip() const noexcept { return chip_; }

    // Finds the context's device. Before open().
    Failure find_device(const Cupti& cupti, void* context) noexcept;
    // On the thread that launches: older interfaces of CUPTI had to be enabled there.
    Failure open(const Cupti& cupti, const CounterPlan& plan, std::uint32_t version) noexcept;
    // `range`: the name of the user's range; null measures the launches in between by replay.
    Failure begin(const Cupti& cupti, const CounterPlan& plan, const char* range) noexcept;
    Failure end(const Cupti& cupti) noexcept;
    // The context goes away.
    void close(const Cupti& cupti) noexcept;

    // After end().
    std::string_view image() const noexcept { return {reinterpret_cast<const char*>(image_), image_bytes_}; }
    std::uint32_t dropped() const noexcept { return dropped_; }

private:
    Failure enable(const Cupti& cupti, CacheMode cache, std::uint32_t version) noexcept;
    Failure pop(const Cupti& cupti) noexcept;
    Failure stop(const Cupti& cupti) noexcept;
    Failure make_image(const Cupti& cupti, const CounterPlan& plan) noexcept;

    void* context_ = nullptr;
    range::RangeObject* object_ = nullptr;
    const char* chip_ = "";
    std::uint32_t device_ = 0, dropped_ = 0;
    std::uint8_t* image_ = nullptr;
    std::size_t image_bytes_ = 0;
    bool in_user_range_ = false, stuck_ = false;
};

// Loads what the range profiler needs from the folder of `cupti`, the library's path.
void load_range_libraries(const char* cupti) noexcept;

// CUPTI's SASS metrics around one launch: counters of each instruction, by code that CUPTI patches. Exact, without replay,
// and slow: never together with hardware counters, never for timing. The data are flushed before the session is disabled,
// because CUPTI drops them then; the session is disabled even if its data could not be read.
// Order of calls: CUPTI's guide, "SASS Metric Collection".
class SassSession {
public:
    CuptiFailure begin(const Cupti& cupti, const CounterPlan& plan, void* context, std::uint32_t device) noexcept;
    // After the launch has ended. `payload`: of a spool_sass_counts; empty if nothing was counted.
    CuptiFailure end(const Cupti& cupti, const CounterPlan& plan, Scratch& payload) noexcept;
    // Records that CUPTI dropped, after end().
    std::uint32_t dropped() const noexcept { return dropped_; }
    // CUPTI did not end the session: no other one may begin.
    bool stuck() const noexcept { return stuck_; }

private:
    static constexpr std::size_t kMaxMetrics = 16;
    CuptiFailure find_metrics(const Cupti& cupti, const CounterPlan& plan) noexcept;
    CuptiFailure flush(const Cupti& cupti, const CounterPlan& plan, Scratch& payload) noexcept;
    void add_record(const sass::Record& record, std::size_t values, Scratch& payload) noexcept;
    CuptiFailure disable(const Cupti& cupti) noexcept;
    CuptiFailure unset(const Cupti& cupti) noexcept;

    void* context_ = nullptr;
    std::uint32_t device_ = 0, dropped_ = 0;
    std::uint64_t ids_[kMaxMetrics] = {};
    bool stuck_ = false;
    std::size_t count_ = 0;  // of metrics; 0: not looked up yet
};

}  // namespace gpuprof::inject
