#include "collect/inject/steps/window.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "collect/inject/host/annotations.h"
#include "core/base/clock.h"

namespace gpuprof::inject {

void Window::start(Switch on_switch, std::int64_t now) noexcept {
    const Settings& settings = inject::settings();
    range_ = settings.range;
    standby_ = settings.standby;
    first_ = settings.first;
    last_ = settings.last;
    duration_ = settings.duration_ns;
    delay_until_ = settings.delay_ns > 0 ? now + settings.delay_ns : 0;
    delayed_.store(delay_until_ != 0, std::memory_order_relaxed);
    switch_ = on_switch;
    if (range_ == CaptureRange::profiler_api) map_starters();
    if (range_ == CaptureRange::always && !standby_) reasons_.store(1, std::memory_order_relaxed);
    open_or_close();
}

void Window::map_starters() noexcept {
    char path[sizeof settings().folder + 16];
    std::snprintf(path, sizeof path, "%s/started", settings().folder);
    int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    if (ftruncate(file, sizeof(Starters)) == 0) {
        void* mapped = mmap(nullptr, sizeof(Starters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) starters_ = static_cast<Starters*>(mapped);
    }
    close(file);
}

void Window::note_start(bool started) noexcept {
    if (starters_ == nullptr) return;
    const std::int32_t self = getpid();
    for (std::atomic<std::int32_t>& pid : starters_->pids)
        if (pid.load(std::memory_order_relaxed) == self) {
            if (!started) pid.store(0, std::memory_order_release);
            return;
        }
    for (std::atomic<std::int32_t>& pid : starters_->pids) {
        std::int32_t free = 0;
        if (!started || pid.compare_exchange_strong(free, self)) return;
    }
}

// One that died in its range does not hold the others' open.
bool Window::started_elsewhere() const noexcept {
    if (starters_ == nullptr) return false;
    const std::int32_t self = getpid();
    bool any = false;
    for (std::atomic<std::int32_t>& pid : starters_->pids) {
        std::int32_t other = pid.load(std::memory_order_relaxed);
        if (other <= 0 || other == self) continue;
        if (kill(other, 0) != 0 && errno == ESRCH)
            pid.compare_exchange_strong(other, 0);
        else
            any = true;
    }
    return any;
}

// Aligns the window with the reasons to be open.
void Window::open_or_close() noexcept {
    pthread_mutex_lock(&lock_);
    if (standby_) unseen.store(nullptr, std::memory_order_relaxed);
    bool wanted = reasons_.load(std::memory_order_relaxed) > 0 || elsewhere_.load(std::memory_order_relaxed) ||
                  planned_.load(std::memory_order_relaxed);
    bool should = wanted && !delayed_.load(std::memory_order_relaxed) && !over_.load(std::memory_order_relaxed);
    if (should != open_.load(std::memory_order_relaxed)) {
        if (should) {
            openings_.fetch_add(1, std::memory_order_relaxed);
            if (opened_at_.load(std::memory_order_relaxed) == 0)
                opened_at_.store(monotonic_ns(), std::memory_order_relaxed);
        } else {
            closed_at_.store(realtime_ns(), std::memory_order_relaxed);
        }
        log(should, should ? realtime_ns() : closed_at_.load(std::memory_order_relaxed));
        open_.store(should, std::memory_order_release);
        if (switch_ != nullptr) switch_(should);
    }
    if (standby_ && !should) unseen.store(&annotation_name().first_letters(), std::memory_order_relaxed);
    pthread_mutex_unlock(&lock_);
}

// If the window opens more often than the spool thread keeps up with, openings are merged: what was between them is
// recorded too.
void Window::log(bool opens, std::int64_t now) noexcept {
    if (!opens && logged_ > 0)
        log_[logged_ - 1].closed = now;
    else if (opens && logged_ == kLogged)
        log_[kLogged - 1].closed = 0;
    else if (opens)
        log_[logged_++] = {now, 0};
}

void Window::change_reasons(int change) noexcept {
    reasons_.fetch_add(change, std::memory_order_relaxed);
    open_or_close();
}

void Window::tick(std::int64_t now) noexcept {
    if (bool elsewhere = started_elsewhere(); elsewhere != elsewhere_.load(std::memory_order_relaxed)) {
        elsewhere_.store(elsewhere, std::memory_order_relaxed);
        open_or_close();
    }
    if (delayed_.load(std::memory_order_relaxed) && now >= delay_until_) {
        delayed_.store(false, std::memory_order_relaxed);
        open_or_close();
    }
    std::int64_t opened = opened_at_.load(std::memory_order_relaxed);
    if (duration_ > 0 && opened > 0 && now - opened >= duration_ && !over_.load(std::memory_order_relaxed)) {
        over_.store(true, std::memory_order_relaxed);
        open_or_close();
    }
}

void Window::shut() noexcept {
    if (!over_.exchange(true, std::memory_order_relaxed)) open_or_close();
}

std::int64_t Window::open_plan(std::int64_t steps) noexcept {
    plan_end_.store(0, std::memory_order_relaxed);
    planned_.store(true, std::memory_order_relaxed);
    std::int64_t now = realtime_ns();
    open_or_close();
    if (steps > 0) plan_end_.store(this->steps() + steps + 2, std::memory_order_relaxed);
    return now;
}
void Window::close_plan() noexcept {
    if (!planned_.exchange(false, std::memory_order_relaxed)) return;
    plan_end_.store(steps(), std::memory_order_relaxed);
    open_or_close();
}

// In standby only triggers open the window: what no trigger asked for would have no capture to go to.
void Window::call_start() noexcept {
    if (standby_) return;
    reasons_.store(1, std::memory_order_relaxed);
    note_start(true);
    open_or_close();
}
void Window::call_stop() noexcept {
    if (standby_) return;
    reasons_.store(0, std::memory_order_relaxed);
    note_start(false);
    open_or_close();
}

void Window::step() noexcept {
    if (range_ != CaptureRange::iterations && !standby_) return;
    std::int64_t number = iterations_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (standby_) {
        std::int64_t end = plan_end_.load(std::memory_order_relaxed);
        if (end != 0 && number >= end) close_plan();
        return;
    }
    if (number == first_) call_start();
    if (number == last_ + 1) call_stop();
}

bool Window::begin(std::string_view text, std::uint64_t domain, std::uint64_t registered) noexcept {
    if (!annotation_name().matches(text, domain, registered)) return false;
    if (range_ == CaptureRange::iterations || standby_)
        step();
    else
        change_reasons(+1);
    return true;
}

void Window::end() noexcept {
    if (range_ == CaptureRange::nvtx) change_reasons(-1);
}

}  // namespace gpuprof::inject
