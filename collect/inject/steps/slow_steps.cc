#include "collect/inject/steps/slow_steps.h"

#include <algorithm>

namespace gpuprof::inject {
namespace {

using spool::KeptStep;

constexpr std::int64_t kMillion = 1'000'000;

// Whether `a` is more worth keeping than `b`.
bool better(const KeptStep& a, const KeptStep& b) noexcept {
    bool a_late = (a.flags & KeptStep::kWarmUp) == 0, b_late = (b.flags & KeptStep::kWarmUp) == 0;
    return a_late != b_late ? a_late : a.duration > b.duration;
}

__extension__ using Wide = __int128;  // no overflow

// duration > factor * median, exactly.
bool exceeds(std::int64_t duration, std::int64_t factor, std::int64_t median) noexcept {
    return static_cast<Wide>(duration) * kMillion > static_cast<Wide>(median) * factor;
}

}  // namespace

void SlowSteps::start(std::int64_t keep, std::int64_t trigger) noexcept {
    limit_ = static_cast<std::size_t>(std::clamp<std::int64_t>(keep, 0, kMaxKept));
    trigger_ = trigger;
}

SlowSteps::Series* SlowSteps::series_of(std::uint32_t thread) noexcept {
    for (std::size_t i = 0; i < series_count_; ++i)
        if (series_[i].thread == thread) return &series_[i];
    if (series_count_ == kMaxSeries) return nullptr;
    series_[series_count_].thread = thread;
    return &series_[series_count_++];
}

void SlowSteps::take(const StepEvent& event) noexcept {
    Series* series = series_of(event.thread);
    bool begins = event.kind == StepEvent::begun || event.kind == StepEvent::begun_by_mark;
    if (series == nullptr) {
        unjudged_ += !begins;
        return;
    }
    if (begins) {
        series->open = event.begin;
        series->by_mark = event.kind == StepEvent::begun_by_mark;
        return;
    }
    series->open = {};
    if (event.kind == StepEvent::abandoned)
        ++unjudged_;
    else
        judge(*series, event.number, event.begin, event.end, series->by_mark ? KeptStep::kMark : 0);
}

std::int64_t SlowSteps::median(const Series& series) noexcept {
    auto count = static_cast<std::size_t>(std::min<std::uint64_t>(series.referenced, kReference));
    if (count < kMinReference) return 0;
    std::int64_t sorted[kReference];
    std::copy(series.recent, series.recent + count, sorted);
    std::nth_element(sorted, sorted + count / 2, sorted + count);
    return sorted[count / 2];
}

// The step before belongs to the picture if the program went on to the next one at once: if less time passed in between
// than it took.
Moment SlowSteps::context(const Series& series, Moment begin) noexcept {
    std::int64_t between = begin.steady - series.last_end.steady;
    bool follows = series.ended > 0 && between <= series.last_end.steady - series.last_begin.steady;
    return follows ? series.last_begin : begin;
}

void SlowSteps::judge(Series& series, std::uint64_t number, Moment begin, Moment end, std::uint32_t flags) noexcept {
    std::int64_t duration = end.steady - begin.steady, reference = median(series);
    Moment since = context(series, begin);
    if (series.ended > 0)
        series.longest_between = std::max(series.longest_between, begin.steady - series.last_end.steady);
    series.ended = number;
    bool warm_up = number <= kWarmUp;
    if (!warm_up && duration > series.slowest_ns) {
        series.slowest = number;
        series.slowest_ns = duration;
        series.slowest_median = reference;
    }
    bool fires = trigger_ > 0 && !warm_up && reference > 0 && exceeds(duration, trigger_, reference);
    fired_ += fires;
    if (trigger_ == 0 || fires) {
        flags |= warm_up ? KeptStep::kWarmUp : 0;
        std::int64_t missing = std::clamp<std::int64_t>(forgotten_ - begin.steady, 0, duration);
        keep({{number, since.real, begin.real, end.real, duration, reference, missing, series.thread, flags},
              since.steady,
              end.steady});
    }
    series.last_begin = begin;
    series.last_end = end;
    if (number <= kUnusedWarmUp) return;
    series.recent[series.referenced++ % kReference] = duration;
    if (series.referenced <= kReference) series.first_median = median(series);
}

void SlowSteps::keep(const Kept& candidate) noexcept {
    if (limit_ == 0) return;
    Kept* place = &kept_[kept_count_];
    if (kept_count_ == limit_) {
        place = std::min_element(kept_, kept_ + kept_count_,
                                 [](const Kept& a, const Kept& b) { return better(b.step, a.step); });
        if (!better(candidate.step, place->step)) return;
    } else {
        ++kept_count_;
    }
    *place = candidate;
    ++selections_;
}

void SlowSteps::finish(Moment now) noexcept {
    for (std::size_t i = 0; i < series_count_; ++i) {
        Series& series = series_[i];
        if (series.open.steady == 0 || series.by_mark) continue;
        judge(series, series.ended + 1, series.open, now, KeptStep::kUnfinished);
        series.open = {};
    }
}

void SlowSteps::forget_before(std::int64_t steady) noexcept { forgotten_ = std::max(forgotten_, steady); }

Moment SlowSteps::since(Moment now) const noexcept {
    Moment earliest = now;
    for (std::size_t i = 0; i < series_count_; ++i) {
        const Series& series = series_[i];
        Moment needed = context(series, series.open.steady != 0 ? series.open : now);
        if (needed.steady < earliest.steady) earliest = needed;
    }
    return earliest;
}

std::int64_t SlowSteps::longest_open(std::int64_t now) const noexcept {
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < series_count_; ++i)
        if (series_[i].open.steady != 0) longest = std::max(longest, now - series_[i].open.steady);
    return longest;
}

bool SlowSteps::kept_need(std::int64_t from, std::int64_t to) const noexcept {
    return std::any_of(kept_, kept_ + kept_count_,
                       [&](const Kept& kept) { return to >= kept.since && from <= kept.end + kDelivery; });
}

spool::StepSeries SlowSteps::series(std::size_t i) const noexcept {
    const Series& from = series_[i];
    spool::StepSeries to{};
    to.ended = from.ended;
    to.slowest = from.slowest;
    to.slowest_ns = from.slowest_ns;
    to.slowest_median = from.slowest_median;
    to.first_median = from.first_median;
    to.last_median = median(from);
    to.longest_between = from.longest_between;
    to.open_since = from.open.real;
    to.thread = from.thread;
    to.open_is_mark = from.open.steady != 0 && from.by_mark;
    return to;
}

spool::StepsSeen SlowSteps::seen() const noexcept {
    spool::StepsSeen seen{};
    seen.keep = static_cast<std::int64_t>(limit_);
    seen.trigger = trigger_;
    seen.warm_up = kWarmUp;
    seen.fired = fired_;
    seen.unjudged = unjudged_;
    seen.series = static_cast<std::uint32_t>(series_count_);
    seen.kept = static_cast<std::uint32_t>(kept_count_);
    return seen;
}

}  // namespace gpuprof::inject
