#include "measure/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/text/close_match.h"
#include "measure/statistics.h"

namespace gpuprof::measure {

void Warmup::close_window() {
    std::sort(window_.begin(), window_.end());
    double median = percentile_of(window_, 50), spread = percentile_of(window_, 75) - percentile_of(window_, 25);
    if (has_previous_) {
        // The smaller scatter, because falling times are scattered too.
        double allowed = std::max(options_.tolerance * previous_, std::min(spread, previous_spread_));
        agreements_ = std::abs(median - previous_) <= allowed ? agreements_ + 1 : 0;
    }
    previous_ = median;
    previous_spread_ = spread;
    has_previous_ = true;
    seen_.last_ns = median;
    window_.clear();
}

void Warmup::add(double ns, DurNs elapsed) {
    constexpr int kRequiredAgreements = 2;
    if (seen_.calls++ == 0) seen_.first_ns = seen_.last_ns = ns;
    seen_.time = elapsed;
    window_.push_back(ns);
    if (window_.size() >= options_.window) close_window();
    seen_.settled = agreements_ >= kRequiredAgreements;
    over_ = elapsed >= options_.max_time || (seen_.settled && elapsed >= options_.min_time);
    // Calls after the last full window are newer than its median.
    if (over_ && !has_previous_) {
        std::sort(window_.begin(), window_.end());
        seen_.last_ns = percentile_of(window_, 50);
    }
}

namespace {

constexpr std::size_t kEntropyWindow = 299;  // nvbench's default
constexpr double kMaxAngleDegrees = 0.048;   // nvbench's default, of bits per sample
constexpr double kBinWidth = 0.005;          // width of the classes of times, relative to the first sample

// Slope of a least-squares line through values at 0, 1, 2, ...
double slope_of(const std::deque<double>& values) {
    auto count = static_cast<double>(values.size());
    double middle = (count - 1) / 2, with = 0, own = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double x = static_cast<double>(i) - middle;
        with += x * values[i];
        own += x * x;
    }
    return own > 0 ? with / own : 0;
}

}  // namespace

std::string_view name_of(StopReason reason) {
    switch (reason) {
        case StopReason::precise: return "the interval of the median is narrow";
        case StopReason::entropy: return "more samples add no entropy";
        case StopReason::enough_samples: return "number of samples reached";
        case StopReason::enough_time: return "time reached";
        case StopReason::timeout: return "time-out";
        case StopReason::max_samples: return "largest number of samples";
    }
    return "";
}

std::string_view name_of(StopRule rule) {
    switch (rule) {
        case StopRule::median: return "median";
        case StopRule::entropy: return "entropy";
        case StopRule::samples: return "samples";
        case StopRule::time: return "time";
    }
    return "";
}

Result<StopRule> find_stop_rule(std::string_view name) {
    for (StopRule rule : kStopRules)
        if (name_of(rule) == name) return rule;
    std::vector<std::string_view> names;
    for (StopRule rule : kStopRules) names.push_back(name_of(rule));
    return unknown_choice("stopping rule", name, names);
}

Status check(const StoppingOptions& options) {
    if (options.min_samples <= options.max_samples) return {};
    return Error{ExitCode::usage, fmt::format("min_samples ({}) must not exceed max_samples ({})", options.min_samples,
                                              options.max_samples)};
}

void Stopping::add(double sample) {
    samples_.push_back(sample);
    if (options_.rule == StopRule::entropy) add_entropy(sample);
}

void Stopping::add_entropy(double sample) {
    if (bin_ <= 0) bin_ = sample > 0 ? sample * kBinWidth : 1;
    std::size_t& count = counts_[std::llround(sample / bin_)];
    auto term = [](std::size_t n) { return n > 0 ? static_cast<double>(n) * std::log2(static_cast<double>(n)) : 0; };
    sum_ += term(count + 1) - term(count);
    ++count;
    auto n = static_cast<double>(samples_.size());
    entropies_.push_back(std::log2(n) - sum_ / n);
    if (entropies_.size() > kEntropyWindow) entropies_.pop_front();
}

bool Stopping::entropy_is_flat() const {
    if (entropies_.size() < std::min(kEntropyWindow, std::max<std::size_t>(options_.min_samples, 2))) return false;
    return std::atan(std::abs(slope_of(entropies_))) * 180 / 3.14159265358979323846 <= kMaxAngleDegrees;
}

bool Stopping::is_precise() {
    if (samples_.size() < next_look_) return false;
    next_look_ = samples_.size() + samples_.size() / 10 + 1;
    std::optional<double> precision = statistics_of(samples_).precision;
    return precision && *precision <= options_.precision;
}

std::optional<StopReason> Stopping::reason(DurNs elapsed) {
    bool enough_samples = samples_.size() >= options_.min_samples, enough_time = elapsed >= options_.min_time;
    if (options_.rule == StopRule::samples && enough_samples) return StopReason::enough_samples;
    if (options_.rule == StopRule::time && enough_time && !samples_.empty()) return StopReason::enough_time;
    if (enough_samples && enough_time) {
        if (options_.rule == StopRule::median && is_precise()) return StopReason::precise;
        if (options_.rule == StopRule::entropy && entropy_is_flat()) return StopReason::entropy;
    }
    if (samples_.size() >= options_.max_samples) return StopReason::max_samples;
    if (elapsed >= options_.timeout) return StopReason::timeout;
    return std::nullopt;
}

}  // namespace gpuprof::measure
