// CUPTI's kinds follow the window, but are switched on the spool thread alone: not on the program's threads, where CUPTI may hold them up
// (CUPTI 13.0 can deadlock in Disable), not in one of its callbacks (cudaProfilerStart is seen in one), and never two at a time.
//
// Opening: whoever opened the window waits until the kinds are on, for a tenth of a second at most; what is launched after a wait that was
// in vain is not recorded until they are, and the opening is counted as late. Closing: nobody waits. The kinds stay on for a second, so that
// work that was in flight when the window closed is delivered, and are on already if the window opens again in that time. The
// reader leaves out what was launched during that second, outside all windows: the file says when they were open (core/format/spool.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/inject/activity.h"
#include "collect/inject/wake.h"
#include "collect/inject/window.h"

namespace gpuprof::inject {

class KindSwitch {
public:
    // On the thread that starts CUPTI, within cuInit, before the spool thread may call it.
    void start(Activity& activity, const Window& window) noexcept;
    // On the thread that opened the window.
    void wait_until_on(Wake& spool_thread) noexcept;
    // On the spool thread; `now` is CLOCK_MONOTONIC in ns.
    void follow(Activity& activity, const Window& window, std::int64_t now) noexcept;
    // Openings that did not wait until the kinds were on.
    std::uint64_t late() const noexcept { return late_.load(std::memory_order_relaxed); }

private:
    std::atomic<int> on_{
        0};  // changed by read-modify-write alone, so that an opening and a switching off see each other
    std::atomic<std::uint64_t> late_{0};
    std::int64_t closed_since_ = 0;  // as the spool thread saw it first; 0: open
    Wake switched_;
};

}  // namespace gpuprof::inject
