// Random numbers that are equal on every machine and with every standard library, so that resampling the same samples
// yields the same interval:
// xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Not for secrets.
#pragma once

#include <cmath>
#include <cstdint>

namespace gpuprof::measure {

class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            std::uint64_t z = (seed += 0x9E3779B97F4A7C15u);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
            word = z ^ (z >> 31);
        }
    }
    std::uint64_t next() {
        std::uint64_t result = rotate(state_[1] * 5, 7) * 9, moved = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= moved;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    // In (0, 1).
    double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1.0p-53; }
    // From the standard normal distribution (Box and Muller 1958; one of the pair).
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979323846 * uniform()); }
    // From the gamma distribution with shape >= 1 and scale 1 (Marsaglia and Tsang 2000).
    double gamma(double shape) {
        double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            double x = normal(), v = 1 + c * x;
            if (v <= 0) continue;
            v = v * v * v;
            if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
        }
    }
    // From the beta distribution, both shapes >= 1.
    double beta(double a, double b) {
        double x = gamma(a);
        return x / (x + gamma(b));
    }

private:
    static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
    std::uint64_t state_[4];
};

}  // namespace gpuprof::measure
