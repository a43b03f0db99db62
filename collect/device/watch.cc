#include "collect/device/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "core/base/clock.h"
#include "core/base/quiet_thread.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr DurNs kSecond = 1'000'000'000, kMillisecond = 1'000'000;
constexpr DurNs kOpeningPatience = 15 * kSecond;  // a driver without persistence mode loads for seconds
constexpr DurNs kStoppingPatience = 700 * kMillisecond;
constexpr int kMostRestarts = 3;

// Starting the driver's library may take seconds, also in the middle of a run, and nothing goes without it.
bool starting_library(const std::string& call) { return call.find("Init") != std::string::npos; }

}  // namespace

TimeNs Watch::now_for_region() { return realtime_ns(); }

Watch::Watch(const MonitorOptions& options)
    : options_(options),
      owner_(getpid()),
      tally_(options.request, options.max_samples, realtime_ns(), options.warmup),
      request_(options.request),
      created_(realtime_ns()),
      began_(created_) {
    thread_ = quiet_thread([this] { run(); });
}

Watch::~Watch() { stop(); }

Status Watch::wait_ready(DurNs timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(timeout), [this] { return over_ || tally_.any_reading(); });
    if (!refusal_) return refusal_;
    if (!tally_.any_reading())
        return Error{ExitCode::empty,
                     fmt::format("no sample came within {}", readable_duration(static_cast<double>(timeout)))};
    return {};
}

void Watch::begin() {
    std::lock_guard lock(mutex_);
    began_ = realtime_ns();
}

void Watch::stop() {
    {
        std::unique_lock lock(mutex_);
        if (!stopping_) {
            stopping_ = true;
            ended_ = realtime_ns();
            if (link_) link_->send(Stop{});
        }
        changed_.notify_all();
        if (!changed_.wait_for(lock, std::chrono::nanoseconds(kStoppingPatience), [this] { return over_; }) && link_)
            link_->hang_up();
    }
    if (thread_.joinable()) thread_.join();
}

void Watch::run() {
    constexpr DurNs kBackoff[] = {100 * kMillisecond, 500 * kMillisecond, 2 * kSecond};
    while (open_link()) {
        Outcome outcome = converse();
        bool again = explain(outcome);
        if (!broken_.empty() && options_.observer.broken) options_.observer.broken(broken_);
        if (!again) break;
        if (!pause(kBackoff[restarts_ - 1])) break;
    }
    std::unique_lock lock(mutex_);
    over_ = true;
    bool asked_to = stopping_;
    changed_.notify_all();
    lock.unlock();
    if (!asked_to && options_.observer.over) options_.observer.over(ending_);
}

bool Watch::open_link() {
    Result<std::unique_ptr<SamplerLink>> link =
        SamplerLink::open(options_.program.empty() ? sampler_program() : options_.program);
    if (!link.ok()) {
        refuse(link.error().code, link.error().message);
        return false;
    }
    std::lock_guard lock(mutex_);
    link_ = std::move(*link);
    opened_ = false;
    if (!link_->send(Start{request_, options_.warmup})) return true;  // it died: converse() will see
    if (stopping_) link_->send(Stop{});
    return true;
}

Watch::Outcome Watch::converse() {
    for (DurNs waited = 0;;) {
        DurNs patience = opened_ ? 2 * kSecond + 2 * options_.request.interval : kOpeningPatience;
        SamplerLink::Received received = link_->receive(patience);
        if (received.ending == SamplerLink::Ending::timeout) {
            if (!starting_library(link_->running_call()) || (waited += patience) >= kOpeningPatience)
                return Outcome::hung;
            continue;
        }
        waited = 0;
        if (received.ending == SamplerLink::Ending::closed) return Outcome::died;
        take(*received.message);
        if (std::holds_alternative<Done>(*received.message)) return Outcome::finished;
        if (std::holds_alternative<Refused>(*received.message)) return Outcome::refused;
    }
}

void Watch::take(const Message& message) {
    if (auto* refused = std::get_if<Refused>(&message)) {
        refuse(ExitCode{refused->code}, refused->sentence);
        return;
    }
    {
        std::lock_guard lock(mutex_);
        if (auto* opened = std::get_if<Opened>(&message)) {
            opened_ = true;
            tally_.opened(*opened);
        } else if (auto* batch = std::get_if<HarvestBatch>(&message)) {
            tally_.harvested(batch->harvest);
        } else if (auto* done = std::get_if<Done>(&message)) {
            tally_.done(*done);
        }
        changed_.notify_all();
    }
    if (auto* opened = std::get_if<Opened>(&message); opened != nullptr && options_.observer.opened)
        options_.observer.opened(*opened);
    if (auto* batch = std::get_if<HarvestBatch>(&message); batch != nullptr && options_.observer.harvested)
        options_.observer.harvested(batch->harvest);
    if (auto* batch = std::get_if<HarvestBatch>(&message); batch != nullptr && batch->ended && options_.observer.over)
        options_.observer.over("");
}

bool Watch::explain(Outcome outcome) {
    std::string call = link_->running_call();
    std::string death = outcome == Outcome::died ? link_->death() : "";
    broken_.clear();
    std::lock_guard lock(mutex_);
    if (outcome == Outcome::finished || outcome == Outcome::refused) {
        // A replay names its file relative to a folder that this process may leave.
        if (request_.backend.rfind("replay:", 0) != 0) SamplerLink::keep(std::move(link_));
        link_.reset();
        return false;
    }
    std::unique_ptr<SamplerLink> broken = std::move(link_);  // killed at the end of this function
    std::string where = call.empty() ? "" : fmt::format(" in {}", call);
    bool avoidable = !call.empty() && !starting_library(call) && call.rfind("nvmlDeviceGetHandleBy", 0) != 0;
    std::string what = death.empty() ? fmt::format("the driver did not answer{}", where)
                                     : fmt::format("the sampler {}{}", death, where);
    if (!stopping_) broken_ = what;
    if (stopping_ || restarts_ == kMostRestarts) {
        ending_ = what + (stopping_ ? "" : "; sampling ended, after three new starts");
        tally_.note(ending_);
        if (!tally_.any_reading()) refusal_ = Error{ExitCode::empty, what};
        return false;
    }
    ++restarts_;
    if (avoidable) request_.avoid.push_back(call);
    tally_.note(what + (avoidable ? "; it is left out from now on" : "; sampling was started again"));
    return true;
}

bool Watch::pause(DurNs length) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::nanoseconds(length), [this] { return stopping_; });
}

void Watch::refuse(ExitCode code, const std::string& sentence) {
    std::lock_guard lock(mutex_);
    tally_.note(sentence);
    ending_ = sentence;
    refusal_ = Error{code, sentence};
    changed_.notify_all();
}

}  // namespace gpuprof
