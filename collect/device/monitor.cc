#include "collect/device/monitor.h"

#include <unistd.h>

#include <mutex>

#include "collect/device/watch.h"
#include "core/base/clock.h"

namespace gpuprof {

// The current or last region. `watch` is absent where nothing is to be sampled (backend none).
struct Monitor::State {
    std::mutex mutex;
    pid_t owner = getpid();
    std::unique_ptr<Watch> watch;
    std::unique_ptr<Tally> idle;  // of a region without sampling
    TimeNs began = 0, ended = 0;
    bool running = false;
    DurNs warmup = 0;

    bool foreign() const { return owner != getpid(); }
    template <class Read>
    auto inspect(Read&& read) const {
        if (watch) return watch->inspect(read);
        static const Tally kNever(SourceRequest{}, 1, 0, 0);
        return read(idle ? *idle : kNever, RegionBounds{began + warmup, ended != 0 ? ended : realtime_ns()});
    }
};

Monitor::Monitor(MonitorOptions options) : options_(std::move(options)), state_(new State) {}

Monitor::~Monitor() {
    if (state_->foreign())
        (void)state_.release();  // its thread is not in this process and its lock may be held for ever
    else
        stop();
}

Status Monitor::start() {
    if (state_->foreign()) {
        (void)state_.release();
        state_.reset(new State);
    }
    stop();
    std::lock_guard lock(state_->mutex);
    state_->watch.reset();
    state_->began = realtime_ns();
    state_->ended = 0;
    state_->warmup = options_.warmup;
    state_->running = true;
    if (options_.request.backend == "none") {
        state_->idle = std::make_unique<Tally>(options_.request, 1, state_->began, options_.warmup);
        state_->idle->note("no device was sampled: that was asked for (backend none)");
        return {};
    }
    state_->watch = std::make_unique<Watch>(options_);
    if (options_.start_timeout < 0 && !options_.strict) return {};
    constexpr DurNs kUsual = 2'000'000'000;
    Status ready = state_->watch->wait_ready(options_.start_timeout < 0 ? kUsual : options_.start_timeout);
    if (!ready && options_.strict) {
        state_->watch->stop();
        state_->running = false;
        return ready;
    }
    state_->watch->begin();
    return {};
}

void Monitor::stop() {
    if (state_->foreign()) return;
    std::lock_guard lock(state_->mutex);
    if (!state_->running) return;
    state_->running = false;
    state_->ended = realtime_ns();
    if (state_->watch) state_->watch->stop();
}

bool Monitor::running() const {
    if (state_->foreign()) return false;
    std::lock_guard lock(state_->mutex);
    return state_->running;
}

std::vector<GpuSummary> Monitor::summaries() const {
    if (state_->foreign()) {
        GpuSummary dead;
        dead.pattern = "unknown";
        dead.notes = {"this process is a child of the one that samples; ask there"};
        return {dead};
    }
    std::lock_guard lock(state_->mutex);
    return state_->inspect([](const Tally& tally, RegionBounds region) { return tally.summaries(region); });
}

std::vector<Reading> Monitor::samples(std::size_t index) const {
    if (state_->foreign()) return {};
    std::lock_guard lock(state_->mutex);
    return state_->inspect([index](const Tally& tally, RegionBounds) { return tally.samples(index); });
}

std::vector<SampledDevice> Monitor::devices() const {
    if (state_->foreign()) return {};
    std::lock_guard lock(state_->mutex);
    return state_->inspect([](const Tally& tally, RegionBounds) { return tally.devices(); });
}

TimeNs Monitor::started() const {
    if (state_->foreign()) return 0;
    std::lock_guard lock(state_->mutex);
    return state_->watch ? state_->watch->created() : state_->began;
}

}  // namespace gpuprof
