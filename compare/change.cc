// See the header for the method and its sources.
#include "compare/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace gpuprof::compare {

Word word_of(const Change& change) {
    if (!change.pct || !change.strict || !change.interval) return Word::cannot_tell;
    if (change.strict->low > 0 && *change.pct >= kMinChange) return Word::higher;
    if (change.strict->high < 0 && *change.pct <= -kMinChange) return Word::lower;
    bool within = change.interval->low >= -kSameWithin && change.interval->high <= kSameWithin;
    return within ? Word::same : Word::cannot_tell;
}

std::string because_of(const Change& change, std::string_view what) {
    std::string sides = fmt::format("{} and {} {} with {:.1f} % noise", change.base_samples, change.new_samples, what,
                                    change.noise_pct.value_or(0));
    std::string where = fmt::format("from {}", sides);
    if (change.interval)
        where += fmt::format(", 95 % interval {:+.2f} to {:+.2f} %", change.interval->low, change.interval->high);
    bool strict = change.strict && (change.strict->low > 0 || change.strict->high < 0);
    switch (change.word) {
        case Word::lower: return where + (strict ? ", 99 % interval below 0" : "");
        case Word::higher: return where + (strict ? ", 99 % interval above 0" : "");
        case Word::same: return fmt::format("{}, within {:.0f} %", where, kSameWithin);
        case Word::cannot_tell: break;
    }
    return where + ": inconclusive; take more samples or reduce the noise";
}

Change unchanged(Change change, std::string_view because) {
    change.pct = 0;
    change.interval = measure::Interval{0, 0, kReported};
    change.strict = measure::Interval{0, 0, kStrict};
    change.word = Word::same;
    change.because = because;
    return change;
}

std::optional<double> pct_between(std::optional<double> base, std::optional<double> next) {
    if (!base || !next || *base == 0) return std::nullopt;
    return 100 * (*next / *base - 1);
}

namespace {

struct LogMoments {
    double mean = 0, squares = 0;  // of the logarithms; squares around the mean
};
std::optional<LogMoments> logs_of(std::span<const double> values) {
    LogMoments logs;
    for (double value : values) {
        if (value <= 0) return std::nullopt;
        logs.mean += std::log(value) / static_cast<double>(values.size());
    }
    for (double value : values) logs.squares += std::pow(std::log(value) - logs.mean, 2);
    return logs;
}

}  // namespace

std::string_view name_of(Word word) {
    constexpr std::string_view kNames[] = {"lower", "higher", "same", "cannot tell"};
    return kNames[static_cast<std::size_t>(word)];
}

std::string_view name_of_speed(Word word) {
    switch (word) {
        case Word::lower: return "faster";
        case Word::higher: return "slower";
        case Word::same: return "same";
        case Word::cannot_tell: return "cannot tell";
    }
    return "";
}

Change change_of_values(std::optional<double> base, std::optional<double> next) {
    Change change;
    change.base = base;
    change.next = next;
    if (!base || !next) {
        change.because = base ? "not recorded in NEW" : "not recorded in BASE";
        if (!base && !next) change.because = "not recorded in BASE or NEW";
        return change;
    }
    if (*base == *next) return unchanged(change, "the values are equal");
    change.pct = pct_between(base, next);
    change.because = "one value per side, so the variation is unknown; repeat the recordings";
    return change;
}

Change change_of_runs(std::span<const double> base, std::span<const double> next) {
    std::size_t count = base.size() + next.size();
    std::optional<LogMoments> before = logs_of(base), after = logs_of(next);
    if (base.empty() || next.empty() || !before || !after || count < 3)
        return change_of_values(base.empty() ? std::nullopt : std::optional(base.front()),
                                next.empty() ? std::nullopt : std::optional(next.front()));
    Change change;
    change.of_runs = true;
    change.base = std::exp(before->mean);
    change.next = std::exp(after->mean);
    change.base_samples = base.size();
    change.new_samples = next.size();
    auto n = static_cast<double>(base.size()), m = static_cast<double>(next.size());
    double deviation = std::sqrt((before->squares + after->squares) / static_cast<double>(count - 2));
    double error = deviation * std::sqrt(1 / n + 1 / m), difference = after->mean - before->mean;
    auto interval = [&](double level) {
        double interval_half_width = student_t(level, count - 2) * error;
        return measure::Interval{100 * std::expm1(difference - interval_half_width),
                                 100 * std::expm1(difference + interval_half_width), level};
    };
    change.noise_pct = 100 * deviation;
    change.pct = 100 * std::expm1(difference);
    change.interval = interval(kReported);
    change.strict = interval(kStrict);
    if (deviation == 0 && difference == 0) return unchanged(change, "all recordings are equal");
    change.word = word_of(change);
    change.because = because_of(change, "recordings");
    return change;
}

}  // namespace gpuprof::compare
