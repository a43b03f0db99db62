// `record --standby`: carries out the requests in FOLDER/control (core/format/control.h). Each one opens the window at an instant
// that all ranks share, and closes it at a later one or after a number of steps. The process gets a part of its own for each window,
// and reports it in FOLDER/PID-NUMBER.window, from which the launcher makes a capture while the program goes on.
//
//   idle -> waiting (a request was read) -> ready (0.1 s before the instant: new part, CUPTI's kinds on) -> open
//        -> closing (records of the window still arrive) -> idle, in a new part
//
// Everything here is done by the spool thread; the program's threads only count steps (window.h). Opening late, because the process
// started late or the machine was busy, is reported, never repaired.
#pragma once

#include <cstdint>
#include <optional>

#include "collect/inject/steps/window.h"
#include "core/format/control.h"

namespace gpuprof::inject {

class TriggeredWindow {
public:
    void start(std::int64_t part) noexcept;
    // Once a round; `now` is CLOCK_MONOTONIC. `delivered`: CUPTI's kinds are off. Returns whether a new part should begin; then
    // turned() follows.
    bool follow(Window& window, std::int64_t now, bool delivered) noexcept;
    // The part `before` ended and `after` began; both are the same if no file could be created.
    void turned(std::int64_t before, std::int64_t after) noexcept;
    // The process ends.
    void finish(Window& window) noexcept;
    // How long the spool thread may sleep.
    std::int64_t pause() const noexcept;
    // Nothing is recorded, and nothing will be in the next moments.
    bool idle() const noexcept { return phase_ == idle_phase || phase_ == waiting; }
    bool starting() const noexcept { return phase_ == ready; }
    const control::Report& report() const noexcept { return report_; }

private:
    enum Phase { idle_phase, waiting, ready, open, closing };
    void poll(std::int64_t now) noexcept;
    void take(const control::Request& request) noexcept;
    void close(Window& window) noexcept;
    void write() const noexcept;

    Phase phase_ = idle_phase;
    bool turning_ = false;
    control::Request request_, next_;  // next_.id 0: none; it came while the window before was being delivered
    std::int64_t last_id_ = 0, polled_ = 0,
                 deadline_ = 0;  // deadline_: CLOCK_MONOTONIC, in case the system's clock is set
    std::uint64_t refused_file_ = 0;
    std::optional<std::int64_t> rank_;
    control::Report report_;
};

}  // namespace gpuprof::inject
