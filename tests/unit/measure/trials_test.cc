// The harness's statistics on trouble of known kinds, by seeded trials: how often is the interval right, how often is the word
// wrong? 200 trials each here, with bounds as wide as 200 need; GPUPROF_TRIALS=2000 takes the goals themselves as bounds
// (CONTRIBUTING.md).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "measure/bench_comparison.h"
#include "measure/stopping.h"
#include "tests/unit/measure/noise.h"

namespace gpuprof::measure {
namespace {

constexpr double kTrue = 10'000;

int trials() {
    const char* asked = std::getenv("GPUPROF_TRIALS");
    return asked != nullptr ? std::atoi(asked) : 200;
}
// Room for chance: none at 2,000 trials, where the goals are the bounds; four standard deviations of 200 trials otherwise.
double room(double share) { return trials() >= 2000 ? 0 : 4 * std::sqrt(share * (1 - share) / trials()); }

template <class Trial>
double share_of(const char* what, std::uint64_t seed, Trial&& trial) {
    int hits = 0;
    for (int i = 0; i < trials(); ++i) {
        Random random(seed * 1'000'003 + static_cast<std::uint64_t>(i));
        hits += trial(random);
    }
    double share = static_cast<double>(hits) / trials();
    std::printf("%-60s %6.2f %% of %d\n", what, share * 100, trials());
    return share;
}

bool covers(std::span<const double> samples) {
    auto interval = statistics_of(samples).median_interval;
    return interval && interval->low <= kTrue && kTrue <= interval->high;
}

struct Kind {
    Noise noise;
    const char* name;
    double share;
};
constexpr Kind kKinds[] = {
    {Noise::normal, "normal", 0.01}, {Noise::skewed, "skewed", 0.5}, {Noise::bimodal, "bimodal", 0.01}};

TEST(Trials, IntervalOfTheMedianCoversTheTruth) {
    for (std::size_t count : {50U, 200U, 1000U})
        for (const Kind& kind : kKinds) {
            std::string what = std::string("covers, ") + kind.name + ", " + std::to_string(count) + " samples";
            double share = share_of(what.c_str(), count + static_cast<unsigned>(kind.noise), [&](Random& random) {
                return covers(times(random, kind.noise, kTrue, kind.share, count));
            });
            EXPECT_GE(share, 0.93 - room(0.95));
            EXPECT_LE(share, 0.97 + room(0.95));
        }
}

TEST(Trials, IntervalCoversTheTruthWhenSamplingStopsByIt) {
    for (const Kind& kind : kKinds) {
        std::string what = std::string("covers after stopping, ") + kind.name;
        double share = share_of(what.c_str(), 7 + static_cast<unsigned>(kind.noise), [&](Random& random) {
            StoppingOptions options;
            options.precision = kind.share / 4, options.min_time = 0;
            Stopping stopping(options);
            std::vector<double> samples;
            for (int i = 0; i < 20'000 && (i == 0 || !stopping.reason(1)); ++i) {
                samples.push_back(one_time(random, kind.noise, kTrue, kind.share));
                stopping.add(samples.back());
            }
            return covers(samples);
        });
        EXPECT_GE(share, 0.93 - room(0.95));
        EXPECT_LE(share, 0.98 + room(0.95));
    }
}

TEST(Trials, IntervalKnowsThatNeighboursAreAlike) {
    for (double keep : {0.5, 0.9}) {
        std::string what = "covers, each value keeps " + std::to_string(keep).substr(0, 3) + " of the one before";
        double share = share_of(
            what.c_str(), 11, [&](Random& random) { return covers(dependent_times(random, kTrue, 0.01, keep, 1000)); });
        EXPECT_GE(share, 0.90 - room(0.95));
    }
}

double share_of_faster(const char* what, const Kind& kind, double change, bool paired, std::uint64_t seed) {
    return share_of((std::string(what) + ", " + kind.name + (paired ? ", paired" : "")).c_str(), seed,
                    [&](Random& random) {
                        std::vector<double> before = times(random, kind.noise, kTrue, kind.share, 100);
                        std::vector<double> after = times(random, kind.noise, kTrue / change, kind.share, 100);
                        return compare(before, after, {.paired = paired}).verdict == SpeedVerdict::faster;
                    });
}

TEST(Trials, EqualSpeedIsHardlyEverCalledFaster) {
    for (const Kind& kind : kKinds)
        for (bool paired : {false, true}) {
            EXPECT_LT(share_of_faster("false faster", kind, 1, paired, 21), 0.02 + room(0.02));
            Kind noisy{kind.noise, kind.name, kind.noise == Noise::skewed ? 0.5 : 0.03};
            EXPECT_LT(share_of_faster("false faster, more noise", noisy, 1, paired, 22), 0.02 + room(0.02));
        }
}

TEST(Trials, EqualSpeedWithDependentNoiseIsHardlyEverCalledFaster) {
    for (double keep : {0.5, 0.9}) {
        double share = share_of("false faster, neighbours alike", 31, [&](Random& random) {
            std::vector<double> before = dependent_times(random, kTrue, 0.03, keep, 300);
            std::vector<double> after = dependent_times(random, kTrue, 0.03, keep, 300);
            return compare(before, after).verdict == SpeedVerdict::faster;
        });
        EXPECT_LT(share, 0.02 + room(0.02));
    }
}

TEST(Trials, ThreePercentUnderOnePercentNoiseIsFound) {
    for (bool paired : {false, true})
        for (const Kind& kind : {kKinds[0], Kind{Noise::skewed, "skewed", 0.01}}) {
            EXPECT_GT(share_of_faster("3 % found", kind, 1.03, paired, 41), 0.95 - room(0.95));
        }
}

// Runs whose medians scatter by `between`, 50 samples each with 1 % of noise; one run a side has only what is assumed of it.
struct Compared {
    double holds = 0, wrong = 0;
};
Compared share_of_runs(std::size_t count, double between) {
    Compared share;
    auto draw = [&](Random& random) {
        std::vector<std::vector<double>> side;
        for (std::size_t i = 0; i < count; ++i)
            side.push_back(times(random, Noise::normal, kTrue * std::exp(between * random.normal()), 0.01, 50));
        return side;
    };
    auto runs = [](const std::vector<std::vector<double>>& side) {
        return std::vector<SampledRun>(side.begin(), side.end());
    };
    std::string what = std::to_string(count) + " runs that differ by " + std::to_string(between).substr(0, 5);
    share.holds = share_of((what + ", interval holds 1").c_str(), 61, [&](Random& random) {
        auto before = draw(random), after = draw(random);
        Comparison found = compare_runs(runs(before), runs(after));
        bool wrong = found.verdict == SpeedVerdict::faster || found.verdict == SpeedVerdict::slower;
        share.wrong += wrong ? 1.0 / trials() : 0;
        return found.interval && found.interval->low <= 1 && 1 <= found.interval->high;
    });
    return share;
}

TEST(Trials, RunsOfTheSameCodeAreHardlyEverCalledFaster) {
    for (std::size_t count : {1U, 3U, 5U})
        for (double between : {0.0, 0.005, 0.02, 0.05}) {
            if (count == 1 && between > 0.005) continue;  // half of the noise within a run is what is assumed
            Compared share = share_of_runs(count, between);
            EXPECT_GE(share.holds, 0.93 - room(0.95));
            EXPECT_LT(share.wrong, 0.02 + room(0.02));
        }
}

TEST(Trials, DriftThatMeetsBothIsNoDifferenceWhenTheyTakeTurns) {
    double share = share_of("false word under common drift, paired", 51, [&](Random& random) {
        std::vector<double> before, after;
        for (int i = 0; i < 100; ++i) {
            double now = kTrue * (1 + 0.1 * i / 100);
            before.push_back(one_time(random, Noise::normal, now, 0.01));
            after.push_back(one_time(random, Noise::normal, now, 0.01));
        }
        SpeedVerdict verdict = compare(before, after, {.paired = true}).verdict;
        return verdict == SpeedVerdict::faster || verdict == SpeedVerdict::slower;
    });
    EXPECT_LT(share, 0.02 + room(0.02));
}

}  // namespace
}  // namespace gpuprof::measure
