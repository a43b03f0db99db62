// Measures counters around one launch or range, by CUPTI's sessions, and writes what they found. One measurement at a time:
// the thread that measures is its owner, and launches of other threads wait, because they would be measured too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/counters/counter_launch.h"
#include "collect/inject/counters/counter_sessions.h"
#include "collect/inject/counters/counter_spool.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {

// The thread that measures. A lock that another thread may release: a range may end on another one.
class MeasurementOwner {
public:
    // Waits until no other thread measures, at most `ns`; whether this one may now.
    bool acquire(std::int64_t ns) noexcept;
    void release() noexcept { thread_.store(0, std::memory_order_release); }
    bool taken() const noexcept { return thread_.load(std::memory_order_relaxed) != 0; }
    bool is_this_thread() const noexcept;

private:
    std::atomic<pid_t> thread_{0};  // 0: none
};

class LaunchMeasurement {
public:
    // Once, before anything else. `plan` outlives this object. False: out of memory or disk.
    bool start(const CounterPlan& plan, const Cupti& cupti, std::uint32_t version, const char* folder) noexcept;
    CounterSpool& spool() noexcept { return spool_; }
    StallSpool& modules() noexcept { return modules_; }
    const Driver& driver() const noexcept { return driver_; }
    const MeasurementOwner& owner() const noexcept { return owner_; }

    // Waits until no other thread measures; whether this one may now.
    bool acquire() noexcept;
    void release() noexcept;
    // As the owner. Returns whether a measurement runs; its end must follow. `typical_ns`: of the kernel; 0: unknown.
    bool begin(spool::CounterLaunch& launch, const char* name, void* context, std::uint64_t typical_ns) noexcept;
    // Whether it was measured.
    bool end() noexcept;
    bool running() const noexcept { return session_ != nullptr; }
    bool budget_is_spent() const noexcept { return plan_->budget_ns > 0 && spent_ns_ >= plan_->budget_ns; }
    // The context goes away. As the owner.
    void close(const void* context) noexcept;

    // Nothing more is measured. Any thread.
    bool ended() const noexcept { return ended_.load(std::memory_order_relaxed); }
    std::uint64_t begun() const noexcept { return number_.load(std::memory_order_relaxed); }
    // On the spool thread: whether the running one hangs, which is written once.
    bool hangs(std::int64_t now) noexcept;
    // At the end, and in a forked child.
    void finish() noexcept;
    void forget() noexcept;

private:
    static constexpr std::size_t kMaxContexts = 64;
    bool counts_instructions() const noexcept { return plan_->scope == CounterScope::instructions; }
    RangeSession* session_of(const void* context) noexcept;
    CuptiFailure begin_session(RangeSession& session, const char* range) noexcept;
    void count_failure(int code) noexcept;

    const CounterPlan* plan_ = nullptr;
    const Cupti* cupti_ = nullptr;
    std::uint32_t version_ = 0;
    Driver driver_;
    CounterSpool spool_;
    StallSpool modules_;  // and what was counted in them, if the plan measures instructions

    MeasurementOwner owner_;
    // Guarded by it.
    RangeSession sessions_[kMaxContexts];
    RangeSession* session_ = nullptr;  // of the running measurement
    SassSession instructions_;         // if the plan measures these
    Scratch payload_;
    std::uint64_t spent_ns_ = 0;
    int failures_ = 0;

    std::atomic<bool> ended_{false};
    std::atomic<std::uint64_t> number_{0};  // of the last measurement
    std::atomic<std::int64_t> since_{0};    // of the running one, CLOCK_MONOTONIC; 0: none
    std::atomic<std::int64_t> limit_{0};    // after which it is taken for hung
    bool hang_written_ = false;
};

}  // namespace gpuprof::inject
