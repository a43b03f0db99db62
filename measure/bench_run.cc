#include "measure/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text/readable.h"

namespace gpuprof::measure {
namespace {

// Interval between clock readings; a reading costs 10 us, a thousandth of it.
constexpr DurNs kGroupTime = 10'000'000;
constexpr DurNs kFirstPause = 50'000'000, kMaxPause = 500'000'000;
constexpr int kMaxThrottledGroups = 5;  // consecutive throttled groups before samples are kept anyway
constexpr int kMaxInvalid = 64;         // consecutive samples that the timer could not take
constexpr int kSamplesAfterSetUp = 2;   // replays of a new graph: the first one uploads it

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return percentile_of(values, 50);
}

// One function on its way to a Measurement.
struct RunSide {
    RunSide(const Work& of, const RunOptions& options) : work(of), stopping(options.stopping) {}
    const Work& work;
    Stopping stopping;
    std::optional<StopReason> stopped;
    std::vector<TimedSample> pending;  // of the current group
    std::vector<double> host;
    Measurement found;
};

class Run {
public:
    Run(std::span<const Work> works, Timer& timer, const ReadState& state, const RunOptions& options)
        : timer_(timer), options_(options), watch_(state), keep_throttled_(options.keep_throttled) {
        sides_.reserve(works.size());
        for (const Work& work : works) sides_.emplace_back(work, options_);
    }
    Status go();
    std::vector<Measurement> results();

private:
    Status warm_up(RunSide& side);
    Status set_up(RunSide& side);
    std::int64_t batch_for(const RunSide& side, double one_ns) const;
    Status find_batch(RunSide& side);
    Status sample();
    void count_threads(const std::map<std::int32_t, ThreadTime>& before);
    Status take_group(TimeNs begun);
    Status take_round(bool backwards);
    Status take_sample(RunSide& side);
    std::size_t room() const;
    void close_group(DurNs elapsed);
    double judged(const RunSide& side, std::size_t shot) const;
    void accept_group(bool is_throttled);
    bool over(DurNs elapsed);
    Measurement result_of(RunSide& side);
    void add_peak(Measurement& found) const;

    TimeNs now() const { return timer_.clock().now(); }

    Timer& timer_;
    RunOptions options_;
    DeviceWatch watch_;
    std::vector<RunSide> sides_;
    std::vector<std::string> notes_;
    bool keep_throttled_;
    int held_down_groups_ = 0;
    DurNs pause_ = kFirstPause, sampling_time_ = 0;
    std::optional<std::int64_t> threads_;
    std::optional<double> waiting_;
    bool backwards_ = false;
};

Status Run::warm_up(RunSide& side) {
    Warmup warmup(options_.warmup);
    std::vector<double> stray;
    TimeNs begun = now();
    while (!warmup.over()) {
        Result<TimedSample> shot = timer_.warm_up(side.work);
        if (!shot.ok()) return shot.error();
        warmup.add(shot->ns, now() - begun);
        stray.push_back(shot->stray_ns);
    }
    side.found.warmup = warmup.seen();
    if (timer_.device() >= 0) side.found.stray_ns = median_of(stray);
    return {};
}

std::int64_t Run::batch_for(const RunSide& side, double one_ns) const {
    std::int64_t most = timer_.usable_batch(timer_.max_batch(side.work));
    if (options_.batch > 0) return std::min(options_.batch, most);
    auto wanted =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(timer_.min_sample_time()) / std::max(one_ns, 1.0)));
    return std::clamp<std::int64_t>(wanted, 1, most);
}

// Times of the warm-up include gaps between launches, so the batch size derived from them can be too small; a few
// samples correct it.
Status Run::find_batch(RunSide& side) {
    constexpr int kCorrections = 3;
    side.found.batch = batch_for(side, side.found.warmup.last_ns);
    for (int i = 0; i < kCorrections; ++i) {
        if (Status ready = set_up(side); !ready) return ready;
        if (options_.batch > 0 || timer_.max_batch(side.work) == 1) break;
        if (Status taken = take_sample(side); !taken) return taken;
        std::int64_t batch = batch_for(side, side.pending.back().ns);
        if (batch <= side.found.batch + side.found.batch / 4) break;
        side.found.batch = batch;
    }
    side.pending.clear();
    side.found.calls = 0;
    return {};
}

Status Run::set_up(RunSide& side) {
    if (Status ready = timer_.set_up(side.work, side.found.batch); !ready) return ready;
    for (int i = 0; timer_.replays_graph() && i < kSamplesAfterSetUp; ++i)
        if (Result<TimedSample> shot = timer_.sample(side.work, side.found.batch); !shot.ok()) return shot.error();
    return {};
}

Status Run::take_sample(RunSide& side) {
    for (int tries = 0; tries < kMaxInvalid; ++tries) {
        Result<TimedSample> shot = timer_.sample(side.work, side.found.batch);
        if (!shot.ok()) return shot.error();
        side.found.calls += side.found.batch;
        if (shot->valid) {
            side.pending.push_back(*shot);
            return {};
        }
        ++side.found.invalid;
        std::int64_t usable = timer_.usable_batch(side.found.batch);
        if (usable == side.found.batch) continue;
        side.found.batch = usable;
        if (Status ready = set_up(side); !ready) return ready;
    }
    return Error{ExitCode::unreadable,
                 fmt::format("cannot time '{}': {} consecutive samples were unusable", side.work.name, kMaxInvalid)};
}

Status Run::take_round(bool backwards) {
    for (std::size_t i = 0; i < sides_.size(); ++i)
        if (Status taken = take_sample(sides_[backwards ? sides_.size() - 1 - i : i]); !taken) return taken;
    return {};
}

// Rounds that may still be taken before a rule on their number must be checked.
std::size_t Run::room() const {
    const StoppingOptions& stopping = options_.stopping;
    std::size_t have = sides_.front().found.samples.size();
    std::size_t until = have < stopping.min_samples ? stopping.min_samples : stopping.max_samples;
    return std::max<std::size_t>(std::min(until, stopping.max_samples), have + 1) - have;
}

Status Run::take_group(TimeNs begun) {
    for (RunSide& side : sides_) side.pending.clear();
    TimeNs group = now();
    for (std::size_t rounds = room(); rounds > 0; --rounds) {
        if (Status taken = take_round(backwards_); !taken) return taken;
        backwards_ = !backwards_;
        if (now() - group >= kGroupTime || now() - begun >= options_.stopping.timeout) break;
    }
    return {};
}

// The input of the stopping rule: the time of a single function, or the ratio of times for one that takes turns with
// another, because common drift does not affect a comparison.
double Run::judged(const RunSide& side, std::size_t shot) const {
    double own = side.pending[shot].ns, first = sides_.front().pending[shot].ns;
    if (sides_.size() == 1) return own;
    return own > 0 ? first / own : 0;
}

void Run::accept_group(bool is_throttled) {
    for (RunSide& side : sides_) {
        for (std::size_t i = 0; i < side.pending.size(); ++i) {
            side.found.samples.push_back(side.pending[i].ns);
            side.host.push_back(side.pending[i].host_ns);
            if (&side != &sides_.front() || sides_.size() == 1) side.stopping.add(judged(side, i));
        }
        if (is_throttled) side.found.throttled_kept += side.pending.size();
    }
}

void Run::close_group(DurNs elapsed) {
    bool is_throttled = watch_.is_throttled();
    held_down_groups_ = is_throttled ? held_down_groups_ + 1 : 0;
    if (is_throttled && !keep_throttled_ && held_down_groups_ >= kMaxThrottledGroups) {
        keep_throttled_ = true;
        notes_.push_back(fmt::format("clocks stayed throttled ({}): from then on samples were kept anyway",
                                     watch_.conditions().throttle));
    }
    bool last_chance = elapsed >= options_.stopping.timeout && sides_.front().found.samples.empty();
    if (!is_throttled || keep_throttled_ || last_chance) return accept_group(is_throttled);
    for (RunSide& side : sides_) side.found.throttled_left_out += side.pending.size();
    timer_.clock().sleep(pause_);
    pause_ = std::min(pause_ * 3 / 2, kMaxPause);
}

bool Run::over(DurNs elapsed) {
    bool all = true;
    for (std::size_t i = sides_.size() > 1 ? 1 : 0; i < sides_.size(); ++i) {
        RunSide& side = sides_[i];
        if (!side.stopped) side.stopped = side.stopping.reason(elapsed);
        all = all && side.stopped;
    }
    sides_.front().stopped = sides_.size() > 1 ? sides_[1].stopped : sides_.front().stopped;
    return all;
}

// The threads that took part in the sampling, and how long they waited; absent if that is unknown. A helper that looks
// around now and then does not count.
void Run::count_threads(const std::map<std::int32_t, ThreadTime>& before) {
    constexpr DurNs kLeastPart = 10;  // a tenth
    std::int64_t threads = 0;
    double run = 0, ready = 0;
    for (const auto& [thread, time] : thread_times()) {
        auto found = before.find(thread);
        ThreadTime begun = found != before.end() ? found->second : ThreadTime{};
        DurNs ran = time.run - begun.run, waited = time.ready - begun.ready;
        if (ran + waited <= sampling_time_ / kLeastPart) continue;
        ++threads;
        run += static_cast<double>(ran), ready += static_cast<double>(waited);
    }
    if (threads == 0 || timer_.device() >= 0) return;
    threads_ = threads;
    waiting_ = ready / (run + ready);
}

Status Run::sample() {
    std::map<std::int32_t, ThreadTime> before = thread_times();
    watch_.begin();
    TimeNs begun = now();
    do {
        if (Status taken = take_group(begun); !taken) return taken;
        close_group(now() - begun);
        sampling_time_ = now() - begun;
    } while (!over(sampling_time_));
    watch_.end();
    count_threads(before);
    return {};
}

Status Run::go() {
    if (Status ready = timer_.start(); !ready) return ready;
    for (RunSide& side : sides_) {
        if (Status warm = warm_up(side); !warm) return warm;
        if (Status ready = find_batch(side); !ready) return ready;
    }
    return sample();
}

// Conditions that affect how the figures should be read.
void add_notes(Measurement& found) {
    const Statistics& s = found.statistics;
    if (!found.warmup.settled)
        found.notes.push_back("times were not stable at the end of the warm-up; increase the warm-up time");
    if (s.bimodal) found.notes.push_back("samples are bimodal; the median lies at one of two values");
    if (s.drift)
        found.notes.push_back(*s.drift > 0 ? "times increased during sampling" : "times decreased during sampling");
    constexpr double kStray = 50'000;  // more than waiting for an idle device takes
    if (found.stray_ns && *found.stray_ns > kStray && *found.stray_ns > 0.05 * found.warmup.last_ns)
        found.notes.push_back(
            fmt::format("the device worked {:.0f} us beyond the stream's last event: work on another stream is not "
                        "included in the times",
                        *found.stray_ns / 1e3));
    if (found.stopped == StopReason::timeout && s.precision)
        found.notes.push_back(
            fmt::format("the timeout came before the median reached the requested precision; it is known within +-{} %",
                        readable_deviation(*s.precision * 100)));
}

// The rates as shares of the device's peak.
void Run::add_peak(Measurement& found) const {
    if (!found.bytes_per_s && !found.flop_per_s) return;
    std::optional<Hardware> hardware = timer_.hardware();
    if (!hardware) return;
    const bool arithmetic = found.flop_per_s && options_.flops_as.unit != MathUnit::unknown;
    Peak peak = peak_of(*hardware, arithmetic ? options_.flops_as : MathPath{});
    found.peak_source = peak.source;
    if (found.bytes_per_s && peak.bytes_per_s) {
        found.peak_bytes_per_s = peak.bytes_per_s;
        found.bytes_pct = 100 * *found.bytes_per_s / *peak.bytes_per_s;
    }
    if (arithmetic && peak.flop_per_s) {
        found.peak_flop_per_s = peak.flop_per_s;
        found.flop_pct = 100 * *found.flop_per_s / *peak.flop_per_s;
    }
    for (const auto& [wanted, why] :
         {std::pair{found.bytes_per_s, peak.no_bandwidth}, std::pair{found.flop_per_s, peak.no_arithmetic}})
        if (wanted && !why.empty()) found.notes.push_back("share of peak unknown: " + why);
    if (found.flop_per_s && !arithmetic)
        found.notes.push_back(
            "share of the arithmetic peak unknown: the number format of the FLOP was not given (flops_as)");
}

Measurement Run::result_of(RunSide& side) {
    Measurement found = std::move(side.found);
    found.name = side.work.name;
    found.timer = timer_.name();
    found.device = timer_.device();
    found.device_name = timer_.device_name();
    found.cold = timer_.flushes();
    found.graph = timer_.replays_graph();
    found.blocking = timer_.blocks();
    found.statistics = statistics_of(found.samples);
    if (found.device >= 0 && !side.host.empty()) found.host_ns = median_of(side.host);
    found.conditions = watch_.conditions();
    double median = found.statistics.median;
    if (found.conditions.sm_clock_mhz && found.statistics.count > 0)
        found.cycles = median * *found.conditions.sm_clock_mhz / 1e3;
    // Two functions share the board's energy counter, so their shares are unknown.
    if (found.conditions.energy_j && sides_.size() == 1) {
        auto calls = static_cast<double>(found.calls);
        found.energy_per_call_j = *found.conditions.energy_j / calls;
        found.energy_per_call_uncertainty_j = *found.conditions.energy_uncertainty_j / calls;
    }
    if (options_.bytes && median > 0) found.bytes_per_s = *options_.bytes / (median / 1e9);
    if (options_.flops && median > 0) found.flop_per_s = *options_.flops / (median / 1e9);
    found.stopped = *side.stopped;
    found.sampling_time = sampling_time_;
    found.threads = threads_;
    found.waiting = waiting_;
    found.notes = timer_.notes();
    found.notes.insert(found.notes.end(), notes_.begin(), notes_.end());
    add_peak(found);
    add_notes(found);
    return found;
}

std::vector<Measurement> Run::results() {
    std::vector<Measurement> found;
    for (RunSide& side : sides_) found.push_back(result_of(side));
    return found;
}

}  // namespace

Result<std::vector<Measurement>> run(std::span<const Work> works, Timer& timer, const ReadState& state,
                                     const RunOptions& options) {
    if (works.empty()) return Error{ExitCode::usage, "nothing to measure: no function given"};
    for (const Work& work : works)
        if (work.call == nullptr)
            return Error{ExitCode::usage, fmt::format("nothing to measure: '{}' has no function to call", work.name)};
    Run all(works, timer, state, options);
    Status done = all.go();
    timer.finish();
    if (!done) return done.error();
    return all.results();
}

}  // namespace gpuprof::measure
