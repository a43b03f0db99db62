// Statistics of integer samples, exact where integers allow: sums never wrap, percentiles are samples, not
// interpolations. Percentile = nearest rank: the smallest sample with at least p % of the samples less than or equal to
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gpuprof::inline facts {

// A sum of 64-bit values that cannot overflow during addition; absent if the result does not fit 64 bits.
class WideSum {
public:
    void add(std::int64_t value) { sum_ += value; }
    void add(const WideSum& other) { sum_ += other.sum_; }
    void add_times(std::int64_t value, std::int64_t times) { sum_ += static_cast<Wide>(value) * times; }
    void subtract(std::int64_t value) { sum_ -= value; }
    void subtract(const WideSum& other) { sum_ -= other.sum_; }
    std::optional<std::int64_t> value() const;
    double real() const { return static_cast<double>(sum_); }
    // The sum divided by n, rounded once.
    double over(std::uint64_t n) const {
        return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(n));
    }
    bool operator==(const WideSum&) const = default;
    auto operator<=>(const WideSum&) const = default;

private:
    __extension__ typedef __int128 Wide;
    Wide sum_ = 0;
};

struct Stat {
    std::uint64_t count = 0;  // never 0 in a result of stat_of()
    WideSum sum;
    std::int64_t min = 0, p50 = 0, p95 = 0, max = 0;
    double mean = 0;
    double std = 0;  // standard deviation of the population
};

// Takes at least one sample; reorders them. Linear time on average.
Stat stat_of(std::span<std::int64_t> samples);
// The p-th percentile (0 < p <= 100) of at least one sample; reorders the samples.
std::int64_t nearest_rank(std::span<std::int64_t> samples, unsigned p);

}  // namespace gpuprof::facts
