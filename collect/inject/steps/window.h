// When to record. The window opens and closes on the thread with the reason: at an annotation, at a call of the
// program, or by the clock on the spool thread; with --standby only by a trigger's plan (triggered_window.h), which may come again. While it is closed, CUPTI's kinds are off and annotations are dropped,
// so that the program runs unaffected; names (strings, domains, threads) are always kept.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "collect/inject/settings.h"

namespace gpuprof::inject {

class Window {
public:
    // Called when the window opens and closes, one at a time, on the thread that changed it.
    using Switch = void (*)(bool open) noexcept;

    // `now` is CLOCK_MONOTONIC in ns.
    void start(Switch on_switch, std::int64_t now) noexcept;
    bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
    // How often it has opened, and CLOCK_REALTIME of its last closing; 0: never.
    std::uint32_t openings() const noexcept { return openings_.load(std::memory_order_relaxed); }
    std::int64_t closed_at() const noexcept { return closed_at_.load(std::memory_order_relaxed); }
    // One opening, in CLOCK_REALTIME; `closed` is 0 while it is open.
    struct Opening {
        std::int64_t opened, closed;
    };
    // Passes each opening that is new or has closed since the last call to take(opening). Spool thread only.
    template <class Take>
    void take_openings(Take&& take) noexcept {
        pthread_mutex_lock(&lock_);
        for (std::size_t i = first_taken_ && log_[0].closed == 0 ? 1 : 0; i < logged_; ++i) take(log_[i]);
        first_taken_ = logged_ > 0 && log_[logged_ - 1].closed == 0;
        if (first_taken_) log_[0] = log_[logged_ - 1];
        logged_ = first_taken_ ? 1 : 0;
        pthread_mutex_unlock(&lock_);
    }
    // In standby and closed: nothing is recorded, and no capture will tell what that cost.
    bool dormant() const noexcept { return standby_ && !open(); }
    bool always() const noexcept {
        return range_ == CaptureRange::always && delay_until_ == 0 && duration_ == 0 && !standby_;
    }

    // With --standby, by the spool thread. A plan opens at once and stays open until close_plan(), or until so many whole steps are in the
    // window that `steps` of them are common to all ranks, if these disagree by one about which step is the first; 0: no limit.
    // Returns CLOCK_REALTIME of the opening.
    std::int64_t open_plan(std::int64_t steps) noexcept;
    void close_plan() noexcept;
    // Steps that had begun when the last plan ended.
    std::int64_t steps_at_end() const noexcept { return plan_end_.load(std::memory_order_relaxed); }
    bool planned() const noexcept { return planned_.load(std::memory_order_relaxed); }
    // A plan is about to open the window: what takes time should be ready then.
    void announce(bool soon) noexcept { announced_.store(soon, std::memory_order_relaxed); }
    bool announced() const noexcept { return announced_.load(std::memory_order_relaxed); }
    // Steps that have begun in this process.
    std::int64_t steps() const noexcept { return iterations_.load(std::memory_order_relaxed); }

    // Called regularly by the spool thread: delay and duration.
    void tick(std::int64_t now) noexcept;
    // Closes it permanently.
    void shut() noexcept;
    // gpu_profile.start() / stop() / step(), and cudaProfilerStart / Stop.
    void call_start() noexcept;
    void call_stop() noexcept;
    void step() noexcept;

    // Annotations. begin() is called before one is recorded and returns whether it opens the window; the same
    // annotation's end() follows after it was recorded.
    bool watches_annotations() const noexcept {
        return range_ == CaptureRange::nvtx || range_ == CaptureRange::iterations || standby_;
    }
    bool begin(std::string_view text, std::uint64_t domain, std::uint64_t registered) noexcept;
    void end() noexcept;

private:
    // The processes of the recording between cuProfilerStart and Stop, in a file of its folder that all of them map: servers call
    // them in one worker, and the others belong to the same range.
    struct Starters {
        std::atomic<std::int32_t> pids[256];
    };
    void map_starters() noexcept;
    void note_start(bool started) noexcept;
    bool started_elsewhere() const noexcept;
    static constexpr std::size_t kLogged = 64;
    void change_reasons(int change) noexcept;
    void log(bool opens, std::int64_t now) noexcept;
    void open_or_close() noexcept;

    CaptureRange range_ = CaptureRange::always;
    bool standby_ = false;
    std::int64_t delay_until_ = 0, duration_ = 0;
    std::int64_t first_ = 0, last_ = 0;
    Switch switch_ = nullptr;
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // for opening and closing; not taken while nothing changes
    Opening log_[kLogged] = {};  // under the lock; the last one may be open, the first one known by then
    std::size_t logged_ = 0;
    bool first_taken_ = false;
    std::atomic<bool> open_{false}, delayed_{false}, over_{false}, planned_{false}, announced_{false};
    std::atomic<std::int64_t> plan_end_{0};  // the plan ends when this step begins, 0: by time; then steps() at its end
    std::atomic<int> reasons_{0};            // number of reasons to be open
    std::atomic<bool> elsewhere_{false};     // another process of the recording has started its range
    Starters* starters_ = nullptr;           // null: each process for itself
    std::atomic<std::int64_t> opened_at_{0}, closed_at_{0};
    std::atomic<std::uint32_t> openings_{0};
    std::atomic<std::int64_t> iterations_{0};
};

}  // namespace gpuprof::inject
