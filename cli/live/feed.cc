#include "cli/live/feed.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "collect/device/monitor_options.h"
#include "core/base/clock.h"
#include "core/base/ids.h"

namespace gpuprof::inline cli {
namespace {

constexpr DurNs kRestartAfter = 30 * kSecond;

DurNs interval_of(const LiveOptions& live) { return static_cast<DurNs>(live.interval_s * 1e9); }

}  // namespace

void declare_live_options(CommandLine& line, LiveOptions& live) {
    line.option(spec_of(kMonitorOptions, "devices"), live.devices);
    line.option(spec_of(kMonitorOptions, "interval_ns"), live.interval_s).seconds(0.1, 3600);
    line.option(spec_of(kMonitorOptions, "backend"), live.backend);
}

Status check(const LiveOptions& live) {
    if (Status known = check_backend(live.backend); !known) return known;
    if (live.backend == "none")
        return Error{ExitCode::usage, "--backend none samples no device; use auto, nvml, smi or replay:FILE"};
    return {};
}

LiveFeed::LiveFeed(const LiveOptions& live)
    : options_(live), state_(interval_of(live)), monitor_(std::make_unique<Monitor>(options(true))) {}

MonitorOptions LiveFeed::options(bool wait) {
    MonitorOptions options;
    options.request.devices = options_.devices;
    options.request.backend = options_.backend;
    options.request.interval = interval_of(options_);
    options.max_samples = 1;  // the state keeps its own history
    options.strict = wait;
    options.start_timeout = wait ? 15 * kSecond : -1;
    options.observer = {.opened =
                            [this](const Opened& opened) {
                                std::lock_guard lock(mutex_);
                                state_.opened(opened);
                            },
                        .on_poll =
                            [this](const PollResult& polled) {
                                std::lock_guard lock(mutex_);
                                state_.on_poll(polled);
                                if (!polled.readings.empty()) any_reading_ = true;
                                changed_.notify_all();
                            },
                        .over = [this](const std::string& why) { sampling_over(why); }};
    options.request.see_visible_devices();
    return options;
}

void LiveFeed::sampling_over(const std::string& why) {
    std::lock_guard lock(mutex_);
    problem_ = why;
    ended_ = why.empty();
    ended_at_ = monotonic_ns();
}

// The monitor learns of the first reading slightly before its observer.
Status LiveFeed::start() {
    Status started = monitor_->start();
    std::unique_lock lock(mutex_);
    if (started) changed_.wait_for(lock, std::chrono::seconds(1), [this] { return any_reading_; });
    return started;
}

bool LiveFeed::ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
}

std::string LiveFeed::problem() const {
    std::lock_guard lock(mutex_);
    return problem_;
}

void LiveFeed::restart(TimeNs now_monotonic) {
    {
        std::lock_guard lock(mutex_);
        if (ended_ || ended_at_ == 0 || now_monotonic - ended_at_ < kRestartAfter) return;
        ended_at_ = 0;
        problem_.clear();
    }
    monitor_ = std::make_unique<Monitor>(options(false));
    if (Status started = monitor_->start(); !started) sampling_over(started.error().message);
}

}  // namespace gpuprof::cli
