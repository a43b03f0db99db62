// CUPTI's SASS metrics around one launch: counters of each instruction, by code that CUPTI patches. Exact, without replay,
// and slow: never together with hardware counters, never for timing. The data are flushed before the session is disabled,
// because CUPTI drops them then. Each step either works or says which function returned which code; the
// session is disabled even if its data could not be read.
// Order of calls: CUPTI's guide, "SASS Metric Collection".
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_failure.h"
#include "collect/inject/spool/scratch.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {

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
