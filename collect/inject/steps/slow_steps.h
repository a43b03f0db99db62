// Which steps of a process are worth keeping: the slowest ones, or those that take longer than a multiple of the median
// of the steps before them (--trigger). Decides nothing about files: it says which stretches of time are needed. Memory
// is constant. Spool thread only.
//
// The steps of each thread are a series of their own, numbered from 1. The first kWarmUp steps of a series compile,
// allocate and fill caches: they never trigger, and are kept only while there are fewer other steps than wanted. The
// median is that of up to kReference earlier steps of the series, and is known once there are kMinReference; the first
// half of the warm-up does not count in it. Of equally long steps the earlier one is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collect/inject/steps/step_watch.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

class SlowSteps {
public:
    static constexpr std::size_t kMaxKept = 64, kMaxSeries = 64, kReference = 64, kMinReference = 5;
    static constexpr std::uint64_t kWarmUp = 10, kUnusedWarmUp = 5;
    // CUPTI delivers the records of a step up to this long after its end.
    static constexpr std::int64_t kDelivery = 1'000'000'000;

    // At most `keep` steps. `trigger`, in millionths: only steps longer than that multiple of the median; 0: any.
    void start(std::int64_t keep, std::int64_t trigger) noexcept;
    void take(const StepEvent& event) noexcept;
    // The process ends: a range that is still open counts as a step that ends now.
    void finish(Moment now) noexcept;
    // Data from before this time is gone, unless a kept step needs it.
    void forget_before(std::int64_t steady) noexcept;

    // The time from which on everything may be needed: by the step in progress, and the one before it.
    Moment since(Moment now) const noexcept;
    // How long the oldest step in progress has lasted; 0: none.
    std::int64_t longest_open(std::int64_t now) const noexcept;
    // Whether a kept step needs what was written between two times (CLOCK_MONOTONIC).
    bool kept_need(std::int64_t from, std::int64_t to) const noexcept;
    // Changes whenever another selection is kept.
    std::uint64_t selections() const noexcept { return selections_; }

    struct Kept {
        spool::KeptStep step;
        std::int64_t since, end;  // CLOCK_MONOTONIC
    };
    struct Series {
        std::uint32_t thread = 0;
        bool by_mark = false;
        Moment open = {};                       // begin of the step in progress; steady 0: none
        Moment last_begin = {}, last_end = {};  // of the step before
        std::int64_t recent[kReference] = {};
        std::uint64_t ended = 0;  // number of the last one that ended
        std::uint64_t referenced = 0;
        std::uint64_t slowest = 0;
        std::int64_t slowest_ns = 0, slowest_median = 0, first_median = 0, longest_between = 0;
    };
    // For the file.
    std::size_t kept() const noexcept { return kept_count_; }
    const spool::KeptStep& kept(std::size_t i) const noexcept { return kept_[i].step; }
    std::size_t series() const noexcept { return series_count_; }
    spool::StepSeries series(std::size_t i) const noexcept;
    spool::StepsSeen seen() const noexcept;

private:
    Series* series_of(std::uint32_t thread) noexcept;
    void judge(Series& series, std::uint64_t number, Moment begin, Moment end, std::uint32_t flags) noexcept;
    void keep(const Kept& candidate) noexcept;
    static std::int64_t median(const Series& series) noexcept;
    static Moment context(const Series& series, Moment begin) noexcept;

    std::size_t limit_ = 0;
    std::int64_t trigger_ = 0;
    std::int64_t forgotten_ = 0;  // CLOCK_MONOTONIC
    std::uint64_t fired_ = 0, unjudged_ = 0, selections_ = 0;
    std::size_t kept_count_ = 0, series_count_ = 0;
    Kept kept_[kMaxKept] = {};
    Series series_[kMaxSeries] = {};
};

}  // namespace gpuprof::inject
