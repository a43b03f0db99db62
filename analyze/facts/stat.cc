#include "analyze/facts/stat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuprof::inline facts {
namespace {

// Index of the p-th percentile among n sorted samples.
std::size_t rank(std::size_t n, unsigned p) {
    // ceil(p * n / 100) without overflow.
    std::size_t at_least = n / 100 * p + (n % 100 * p + 99) / 100;
    return std::max<std::size_t>(at_least, 1) - 1;
}

double deviation(std::span<const std::int64_t> samples, double mean) {
    double squares = 0;
    for (std::int64_t sample : samples) {
        double distance = static_cast<double>(sample) - mean;
        squares += distance * distance;
    }
    return std::sqrt(squares / static_cast<double>(samples.size()));
}

}  // namespace

std::optional<std::int64_t> WideSum::value() const {
    if (sum_ < std::numeric_limits<std::int64_t>::min() || sum_ > std::numeric_limits<std::int64_t>::max()) return {};
    return static_cast<std::int64_t>(sum_);
}

std::int64_t nearest_rank(std::span<std::int64_t> samples, unsigned p) {
    auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank(samples.size(), p));
    std::nth_element(samples.begin(), at, samples.end());
    return *at;
}

Stat stat_of(std::span<std::int64_t> samples) {
    Stat stat;
    stat.count = samples.size();
    stat.min = stat.max = samples.front();
    for (std::int64_t sample : samples) {
        stat.sum.add(sample);
        stat.min = std::min(stat.min, sample);
        stat.max = std::max(stat.max, sample);
    }
    stat.mean = stat.sum.over(stat.count);
    stat.p50 = stat.p95 = stat.min;
    if (stat.min == stat.max) return stat;
    stat.std = deviation(samples, stat.mean);
    // The 95th percentile is among the samples that the median's partition left above it.
    auto half = samples.begin() + static_cast<std::ptrdiff_t>(rank(samples.size(), 50));
    auto high = samples.begin() + static_cast<std::ptrdiff_t>(rank(samples.size(), 95));
    std::nth_element(samples.begin(), half, samples.end());
    if (high > half) std::nth_element(half + 1, high, samples.end());
    stat.p50 = *half;
    stat.p95 = *high;
    return stat;
}

}  // namespace gpuprof::facts
