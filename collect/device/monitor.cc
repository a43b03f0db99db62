#include "collect/device/monitor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "collect/device/sample_accumulator.h"
#include "collect/device/sampler_link.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/signal_blocked_thread.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline device {
namespace {

constexpr DurNs kOpenTimeout = 15 * kSecond;  // without persistence mode, loading the driver takes seconds
constexpr DurNs kStopTimeout = 700 * kMillisecond;
constexpr int kMaxRestarts = 3;

// Starting the driver's library may take seconds, even in the middle of a run, and is never avoided.
bool starting_library(const std::string& call) { return call.find("Init") != std::string::npos; }

}  // namespace

// The current or last region, and the thread that listens to its sampler. The thread feeds the accumulator, detects a
// hung driver or a dead sampler, names the driver function responsible, and starts another sampler that avoids it. In a
// forked child this object is unusable: the thread does not exist, and locks may never be released.
struct Monitor::State {
    explicit State(const MonitorOptions& given) : options(given), accumulator(SourceRequest{}, 1, 0, 0) {}

    const MonitorOptions& options;
    const pid_t owner = getpid();
    std::mutex calls;  // start() and stop() take turns
    std::thread thread;

    mutable std::mutex mutex;  // guards the members below
    std::condition_variable changed;
    SampleAccumulator accumulator;
    SourceRequest request;              // including functions to avoid
    std::unique_ptr<SamplerLink> link;  // changed by the thread only
    TimeNs created = 0, began = 0, ended = 0;
    bool running = false;  // a region is open; sampling may end earlier
    bool over = false, stopping = false;
    Status refusal;
    std::string ending;  // why sampling ended by itself

    // Used by the thread only.
    bool opened = false;
    int restarts = 0;
    std::string broken;  // what explain() found

    enum class Outcome { finished, refused, hung, died };

    bool foreign() const { return owner != getpid(); }
    // Calls read(accumulator, region) under the lock.
    template <class Read>
    auto inspect(Read&& read) const {
        std::lock_guard lock(mutex);
        return read(accumulator, RegionBounds{began + options.warmup, ended != 0 ? ended : realtime_ns()});
    }
    void renew();
    Status wait_ready(DurNs timeout);
    void stop();
    void run() noexcept;
    void listen();
    void give_up(const Status& failed) noexcept;
    Outcome converse();
    bool open_link();
    void take(const Message& message);
    bool explain(Outcome outcome);  // returns whether another sampler may be tried
    bool pause(DurNs length);       // returns false while stopping
    void refuse(ExitCode code, const std::string& sentence);
};

// Starts a new region; the thread of the last one has ended.
void Monitor::State::renew() {
    std::lock_guard lock(mutex);
    created = began = realtime_ns();
    ended = 0;
    accumulator = SampleAccumulator(options.request, options.max_samples, created, options.warmup);
    request = options.request;
    over = stopping = opened = false;
    running = true;
    restarts = 0;
    refusal = Status();
    ending.clear();
    broken.clear();
}

Status Monitor::State::wait_ready(DurNs timeout) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::nanoseconds(timeout), [this] { return over || accumulator.any_reading(); });
    if (!refusal) return refusal;
    if (!accumulator.any_reading())
        return Error{ExitCode::empty, fmt::format("no sample arrived within {}", readable_duration(timeout))};
    return {};
}

void Monitor::State::stop() {
    {
        std::unique_lock lock(mutex);
        if (!running) return;
        running = false;
        stopping = true;
        ended = realtime_ns();
        if (link) link->send(Stop{});
        changed.notify_all();
        if (thread.joinable() &&
            !changed.wait_for(lock, std::chrono::nanoseconds(kStopTimeout), [this] { return over; }) && link)
            link->hang_up();
    }
    if (thread.joinable()) thread.join();
}

void Monitor::State::run() noexcept {
    if (Status listened = caught([this] { listen(); }); !listened) give_up(listened);
    std::unique_lock lock(mutex);
    over = true;
    bool asked_to = stopping;
    changed.notify_all();
    lock.unlock();
    // The observer may run out of memory as well.
    if (!asked_to && options.observer.over) (void)caught([this] { options.observer.over(ending); });
}

// Memory is short in this program, not in the sampler, which is killed.
void Monitor::State::give_up(const Status& failed) noexcept {
    std::lock_guard lock(mutex);
    link.reset();
    if (!accumulator.any_reading()) refusal = failed;
    (void)caught([&] {
        ending = fmt::format("sampling ended: {}", failed.error().message);
        accumulator.note(ending);
    });
}

void Monitor::State::listen() {
    constexpr DurNs kBackoff[] = {100 * kMillisecond, 500 * kMillisecond, 2 * kSecond};
    while (open_link()) {
        Outcome outcome = converse();
        bool again = explain(outcome);
        if (!broken.empty() && options.observer.broken) options.observer.broken(broken);
        if (!again) break;
        if (!pause(kBackoff[restarts - 1])) break;
    }
}

bool Monitor::State::open_link() {
    Result<std::unique_ptr<SamplerLink>> found =
        SamplerLink::open(options.program.empty() ? sampler_program() : options.program);
    if (!found.ok()) {
        refuse(found.error().code, found.error().message);
        return false;
    }
    std::lock_guard lock(mutex);
    link = std::move(*found);
    opened = false;
    if (!link->send(Start{request, options.warmup})) return true;  // it died; converse() will notice
    if (stopping) link->send(Stop{});
    return true;
}

Monitor::State::Outcome Monitor::State::converse() {
    for (DurNs waited = 0;;) {
        DurNs timeout = opened ? 2 * kSecond + 2 * options.request.interval : kOpenTimeout;
        SamplerLink::Received received = link->receive(timeout);
        if (received.ending == SamplerLink::Ending::timeout) {
            if (!starting_library(link->running_call()) || (waited += timeout) >= kOpenTimeout) return Outcome::hung;
            continue;
        }
        waited = 0;
        if (received.ending == SamplerLink::Ending::closed) return Outcome::died;
        take(*received.message);
        if (std::holds_alternative<Done>(*received.message)) return Outcome::finished;
        if (std::holds_alternative<Refused>(*received.message)) return Outcome::refused;
    }
}

void Monitor::State::take(const Message& message) {
    if (auto* refused = std::get_if<Refused>(&message)) {
        refuse(ExitCode{refused->code}, refused->sentence);
        return;
    }
    {
        std::lock_guard lock(mutex);
        if (auto* news = std::get_if<Opened>(&message)) {
            opened = true;
            accumulator.opened(*news);
        } else if (auto* batch = std::get_if<PollMessage>(&message)) {
            accumulator.on_poll(batch->polled);
        } else if (auto* done = std::get_if<Done>(&message)) {
            accumulator.done(*done);
        }
        changed.notify_all();
    }
    if (auto* news = std::get_if<Opened>(&message); news != nullptr && options.observer.opened)
        options.observer.opened(*news);
    if (auto* batch = std::get_if<PollMessage>(&message); batch != nullptr && options.observer.on_poll)
        options.observer.on_poll(batch->polled);
    if (auto* batch = std::get_if<PollMessage>(&message); batch != nullptr && batch->ended && options.observer.over)
        options.observer.over("");
}

bool Monitor::State::explain(Outcome outcome) {
    std::string call = link->running_call();
    std::string exit_reason = outcome == Outcome::died ? link->exit_reason() : "";
    broken.clear();
    std::lock_guard lock(mutex);
    if (outcome == Outcome::finished || outcome == Outcome::refused) {
        // A replay names its file relative to a folder that this process may leave.
        if (request.backend.rfind("replay:", 0) != 0) SamplerLink::keep(std::move(link));
        link.reset();
        return false;
    }
    std::unique_ptr<SamplerLink> to_kill = std::move(link);  // killed at the end of this function
    std::string where = call.empty() ? "" : fmt::format(" in {}", call);
    bool avoidable = !call.empty() && !starting_library(call) && call.rfind("nvmlDeviceGetHandleBy", 0) != 0;
    std::string what = exit_reason.empty() ? fmt::format("the driver did not answer{}", where)
                                           : fmt::format("the sampler {}{}", exit_reason, where);
    if (!stopping) broken = what;
    if (stopping || restarts == kMaxRestarts) {
        ending = what + (stopping ? "" : "; sampling ended after three restarts");
        accumulator.note(ending);
        if (!accumulator.any_reading()) refusal = Error{ExitCode::empty, what};
        return false;
    }
    ++restarts;
    if (avoidable) request.avoid.push_back(call);
    accumulator.note(what + (avoidable ? "; that function is skipped from now on" : "; sampling was restarted"));
    return true;
}

bool Monitor::State::pause(DurNs length) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, std::chrono::nanoseconds(length), [this] { return stopping; });
}

void Monitor::State::refuse(ExitCode code, const std::string& sentence) {
    std::lock_guard lock(mutex);
    accumulator.note(sentence);
    ending = sentence;
    refusal = Error{code, sentence};
    changed.notify_all();
}

Monitor::Monitor(MonitorOptions options) : options_(std::move(options)), state_(new State(options_)) {}

Monitor::~Monitor() {
    if (state_->foreign())
        (void)state_.release();
    else
        stop();
}

Status Monitor::start() {
    if (state_->foreign()) {
        (void)state_.release();
        state_.reset(new State(options_));
    }
    State& state = *state_;
    std::lock_guard turn(state.calls);
    state.stop();
    state.renew();
    if (options_.request.backend == "none") {
        std::lock_guard lock(state.mutex);
        state.accumulator.note("no device was sampled, as requested (backend none)");
        return {};
    }
    if (Status begun = caught([&] { state.thread = signal_blocked_thread([&state] { state.run(); }); }); !begun) {
        std::lock_guard lock(state.mutex);
        state.running = false;
        return begun;
    }
    if (options_.start_timeout < 0 && !options_.strict) return {};
    constexpr DurNs kDefaultTimeout = 2 * kSecond;
    Status ready = state.wait_ready(options_.start_timeout < 0 ? kDefaultTimeout : options_.start_timeout);
    if (!ready && options_.strict) {
        state.stop();
        return ready;
    }
    std::lock_guard lock(state.mutex);
    state.began = realtime_ns();  // the region begins now, after the wait for the first reading
    return {};
}

void Monitor::stop() {
    if (state_->foreign()) return;
    std::lock_guard turn(state_->calls);
    state_->stop();
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
        dead.notes = {"no figures in a forked child; the parent process samples"};
        return {dead};
    }
    return state_->inspect(
        [](const SampleAccumulator& accumulator, RegionBounds region) { return accumulator.summaries(region); });
}

std::vector<Reading> Monitor::samples(std::size_t index) const {
    if (state_->foreign()) return {};
    return state_->inspect(
        [index](const SampleAccumulator& accumulator, RegionBounds) { return accumulator.samples(index); });
}

std::vector<SampledDevice> Monitor::devices() const {
    if (state_->foreign()) return {};
    return state_->inspect([](const SampleAccumulator& accumulator, RegionBounds) { return accumulator.devices(); });
}

TimeNs Monitor::started() const {
    if (state_->foreign()) return 0;
    std::lock_guard lock(state_->mutex);
    return state_->created;
}

}  // namespace gpuprof::device
