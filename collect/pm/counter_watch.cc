#include "collect/pm/counter_watch.h"

#include <fmt/format.h>

#include <chrono>

#include "collect/pm/counter_capture.h"
#include "collect/pm/counter_process.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/signal_blocked_thread.h"

namespace gpuprof::pm {
namespace {

constexpr DurNs kOpenTimeout = 20 * kSecond;  // without persistence mode, loading the driver takes seconds
constexpr DurNs kSilenceTimeout = 3 * kSecond;
constexpr DurNs kStopTimeout = 1000 * kMillisecond;
constexpr int kMaxProcessRestarts = 3;

}  // namespace

CounterWatch::CounterWatch(CounterOptions options) : options_(std::move(options)) {
    thread_ = signal_blocked_thread([this] { run(); });
}

CounterWatch::~CounterWatch() {
    if (Status stopped = caught([this] { stop(); }); !stopped && thread_.joinable()) thread_.join();
}

void CounterWatch::ask_to_stop() {
    std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    asked_ = monotonic_ns();
    if (link_) link_->send(kStopPacket);
    changed_.notify_all();
}

void CounterWatch::stop() {
    ask_to_stop();
    {
        std::unique_lock lock(mutex_);
        std::chrono::nanoseconds left(asked_ + kStopTimeout - monotonic_ns());
        if (!changed_.wait_for(lock, left, [this] { return over_; }) && link_) link_->hang_up();
    }
    if (thread_.joinable()) thread_.join();
}

void CounterWatch::run() noexcept {
    if (Status listened = caught([this] { listen(); }); !listened)
        (void)caught([&] { options_.remark("sampling of counters ended: " + listened.error().message); });
    std::lock_guard lock(mutex_);
    link_.reset();
    over_ = true;
    changed_.notify_all();
}

void CounterWatch::listen() {
    constexpr DurNs kBackoff[] = {100 * kMillisecond, 500 * kMillisecond, 2 * kSecond};
    while (open_link() && explain(converse()) && pause(kBackoff[restarts_ - 1])) {
    }
    if (incomplete_) write_loss();
}

std::string CounterWatch::part(int number) const {
    if (number == 0) return options_.part;
    std::size_t ending = options_.part.rfind('.');
    return fmt::format("{}_{}{}", options_.part.substr(0, ending), number, options_.part.substr(ending));
}

bool CounterWatch::open_link() {
    Result<std::unique_ptr<ProcessLink>> link = ProcessLink::open(sampler_program(), kCounterArgument);
    if (!link.ok()) {
        options_.remark(link.error().message);
        return false;
    }
    std::lock_guard lock(mutex_);
    link_ = std::move(*link);
    reported_ = false;
    link_->send(encode(CounterRequest{.part = part(restarts_),
                                      .set = options_.set,
                                      .program = options_.program,
                                      .interval = options_.interval,
                                      .written_until = written_until_}));
    if (stopping_) link_->send(kStopPacket);
    return true;
}

CounterWatch::Outcome CounterWatch::converse() {
    for (;;) {
        ProcessLink::Received received = link_->receive(reported_ ? kSilenceTimeout : kOpenTimeout, kMaxBytes);
        if (received.ending == ProcessLink::Ending::timeout) return Outcome::hung;
        if (received.ending == ProcessLink::Ending::closed) return Outcome::died;
        std::optional<CounterReport> report = decode_report(received.packet);
        if (!report) return Outcome::died;  // not a valid message: the process cannot be trusted any more
        take(*report);
        if (report->phase == CounterReport::Phase::refused) return Outcome::refused;
        if (report->phase == CounterReport::Phase::finished) return Outcome::finished;
    }
}

void CounterWatch::take(const CounterReport& report) {
    for (const std::string& remark : report.remarks) options_.remark(remark);
    reported_ = true;
    sample_times_ = earlier_sample_times_ + report.sample_times;
    lost_ = earlier_lost_ + report.lost;
    if (!report.written_until.empty()) written_until_ = report.written_until;
}

bool CounterWatch::stopping() {
    std::lock_guard lock(mutex_);
    return stopping_;
}

bool CounterWatch::explain(Outcome outcome) {
    std::string call = link_->running_call();
    std::string exit_reason = outcome == Outcome::died ? link_->exit_reason() : "";
    {
        std::lock_guard lock(mutex_);
        link_.reset();  // killed here if it still runs
    }
    incomplete_ = outcome != Outcome::finished && !written_until_.empty();
    if (outcome == Outcome::finished || outcome == Outcome::refused) return false;
    earlier_sample_times_ = sample_times_;
    earlier_lost_ = lost_;
    std::string what = exit_reason.empty() ? "the driver did not answer" : "the sampling process " + exit_reason;
    if (!call.empty()) what += " in " + call;
    // One that dies before its first sample would die again.
    bool again =
        outcome == Outcome::died && !exit_reason.empty() && reported_ && restarts_ < kMaxProcessRestarts && !stopping();
    options_.remark(what + (again ? "; sampling was restarted" : "; sampling of counters ended"));
    if (again) ++restarts_;
    return again;
}

bool CounterWatch::pause(DurNs length) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::nanoseconds(length), [this] { return stopping_; });
}

// Counts what is missing between the last written sample and now, in a separate part.
void CounterWatch::write_loss() {
    Result<std::unique_ptr<CounterCapture>> capture = CounterCapture::open(part(kMaxProcessRestarts + 1));
    if (!capture.ok()) return options_.remark(capture.error().message);
    for (std::size_t device = 0; device < written_until_.size(); ++device) {
        if (written_until_[device] == 0) continue;
        auto missing = static_cast<std::uint64_t>((realtime_ns() - written_until_[device]) / options_.interval);
        if (missing == 0) continue;
        (*capture)->lose(static_cast<std::int32_t>(device), missing, "sampling had ended");
        lost_ += missing;
    }
    if (Status closed = (*capture)->close(); !closed) options_.remark(closed.error().message);
}

}  // namespace gpuprof::pm
