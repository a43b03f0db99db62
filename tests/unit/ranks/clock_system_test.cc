#include "ranks/clocks/clock_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace gpuprof {
namespace {

constexpr double kHalf = 1e9;

// Hosts in a chain, each sharing collectives with the next: as stages of a pipeline do.
struct Planted {
    std::vector<double> offset, ppm;
    std::vector<ClockEnd> ends;

    explicit Planted(std::size_t clocks, double jitter, unsigned seed = 1) {
        std::mt19937 random(seed);
        std::normal_distribution<double> unit(0, 1);  // whose width may not be 0
        auto noise = [&](auto& from) { return jitter * unit(from); };
        std::uniform_real_distribution<double> far(-5e6, 5e6), rate(-15, 15), when(-kHalf, kHalf);
        for (std::size_t i = 0; i < clocks; ++i) offset.push_back(far(random)), ppm.push_back(rate(random));
        std::uint32_t instance = 0;
        for (std::size_t i = 0; i + 1 < clocks; ++i)
            for (int n = 0; n < 60; ++n, ++instance) {
                double time = when(random);
                for (std::size_t clock : {i, i + 1})
                    ends.push_back({instance, static_cast<std::uint32_t>(clock),
                                    time + offset[clock] + ppm[clock] * 1e-6 * time + noise(random), 1});
            }
    }
    // The largest error of a difference of two neighbours' clocks in the middle and at the ends, in ns.
    double worst(const ClockSolution& found) const {
        double worst = 0;
        for (std::size_t i = 0; i + 1 < offset.size(); ++i)
            for (double at : {-kHalf, 0.0, kHalf}) {
                double truth = offset[i + 1] - offset[i] + (ppm[i + 1] - ppm[i]) * 1e-6 * at;
                double fitted =
                    found.offset[i + 1] - found.offset[i] + (found.drift[i + 1] - found.drift[i]) * at / kHalf;
                worst = std::max(worst, std::abs(truth - fitted));
            }
        return worst;
    }
};

TEST(ClockSystem, FindsOffsetsAndRatesOfAChainOfHosts) {
    Planted planted(16, 3000);
    EXPECT_LT(planted.worst(fit_clocks(planted.ends, 16, kHalf)), 5000);
}

TEST(ClockSystem, ExactEndsGiveExactClocks) {
    Planted planted(4, 0);
    EXPECT_LT(planted.worst(fit_clocks(planted.ends, 4, kHalf)), 200);
}

TEST(ClockSystem, AFewWildEndsDoNotMatter) {
    Planted planted(8, 3000);
    for (std::size_t i = 0; i < planted.ends.size(); i += 23) planted.ends[i].time += 20e6;
    EXPECT_LT(planted.worst(fit_clocks(planted.ends, 8, kHalf)), 20'000);
}

TEST(ClockSystem, IslandsAndClocksWithoutEndsAreLeftAlone) {
    Planted planted(3, 1000);
    ClockSolution found = fit_clocks(planted.ends, 5, kHalf);
    EXPECT_EQ(found.offset[4], 0);
    EXPECT_EQ(found.drift[4], 0);
    std::vector<ClockEnd> none;
    EXPECT_EQ(fit_clocks(none, 2, kHalf).offset, std::vector<double>(2, 0.0));
}

}  // namespace
}  // namespace gpuprof
