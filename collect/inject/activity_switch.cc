#include "collect/inject/activity_switch.h"

#include "core/base/clock.h"
#include "core/base/ids.h"

namespace gpuprof::inject {
namespace {

constexpr std::int64_t kSwitchTimeout = 100 * kMillisecond, kDeliveryTime = 1000 * kMillisecond;

}  // namespace

void ActivitySwitch::start(Activity& activity, const Window& window) noexcept {
    if (!window.open()) return activity.prepare();
    activity.open();
    on_.exchange(1);
}

void ActivitySwitch::wait_until_on(EventCount& spool_thread) noexcept {
    if (on_.fetch_add(0) != 0) return;
    std::int64_t until = monotonic_ns() + kSwitchTimeout;
    ask();
    spool_thread.notify();
    for (;;) {
        std::uint32_t ticket = switched_.ticket();
        if (on_.fetch_add(0) != 0) return;
        std::int64_t left = until - monotonic_ns();
        if (left <= 0) break;
        switched_.wait(ticket, static_cast<long>(left));
    }
    late_.fetch_add(1, std::memory_order_relaxed);
}

void ActivitySwitch::switch_on_here(Activity& activity) noexcept {
    if (on_.fetch_add(0) != 0) return;
    if (pthread_mutex_trylock(&switching_) != 0) {
        late_.fetch_add(1, std::memory_order_relaxed);
        return ask();
    }
    if (on_.fetch_add(0) == 0) {
        activity.open();
        on_.exchange(1);
    }
    pthread_mutex_unlock(&switching_);
}

void ActivitySwitch::follow(Activity& activity, const Window& window, std::int64_t now) noexcept {
    if (pthread_mutex_trylock(&switching_) != 0) return;
    bool open = window.open() || window.announced(), ready = asked_.exchange(false) || seen_open_;
    seen_open_ = open && on_.load() == 0 && !ready;
    if (open) {
        closed_since_ = 0;
        if (ready && on_.load() == 0) {
            activity.open();
            on_.exchange(1);
            switched_.notify();
        }
    } else {
        switch_off(activity, window, now);
    }
    pthread_mutex_unlock(&switching_);
}

void ActivitySwitch::switch_off(Activity& activity, const Window& window, std::int64_t now) noexcept {
    if (on_.load() == 0) return;
    if (closed_since_ == 0) closed_since_ = now;
    if (now - closed_since_ < kDeliveryTime) return;
    activity.flush(false);
    // A thread that opens the window from now on finds the kinds off and waits; one that did so earlier is seen now.
    on_.exchange(0);
    if (window.open() || window.announced())
        on_.exchange(1);
    else
        activity.close();
    closed_since_ = 0;
}

}  // namespace gpuprof::inject
