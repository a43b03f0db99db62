// How often are the words of a comparison wrong, and how often is a change missed? Seeded trials on drawn steps. Few here, with
// bounds as wide as few need; GPUPROF_TRIALS=2000 takes the goals of docs/reference/commands/compare.md as bounds (CONTRIBUTING.md).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "compare/comparison.h"
#include "tests/unit/compare/series.h"

namespace gpuprof::compare {
namespace {

int trials() {
    const char* asked = std::getenv("GPUPROF_TRIALS");
    return asked != nullptr ? std::atoi(asked) : 60;
}
// Four standard deviations; none where the goals are the bounds.
double room(double share) { return trials() >= 2000 ? 0 : 4 * std::sqrt(share * (1 - share) / trials()); }

// As compare decides: by the median, or by the mean when only that changed.
Word word_between(const std::vector<double>& base, const std::vector<double>& next, bool one_process) {
    Changes changes;
    changes[static_cast<std::size_t>(Metric::step_p50)] = change_of_samples(base, next, "steps", one_process);
    changes[static_cast<std::size_t>(Metric::step_mean)] = change_of_means(base, next, "steps", one_process);
    return changes[static_cast<std::size_t>(deciding_metric(changes))].word;
}

struct Shares {
    double lower = 0, higher = 0, same = 0;
    double changed() const { return lower + higher; }
};

template <class Pair>
Shares shares_of(const char* what, bool one_process, Pair&& pair) {
    Shares shares;
    for (int i = 0; i < trials(); ++i) {
        measure::Random random(static_cast<std::uint64_t>(i) * 7919 + 17);
        auto [base, next] = pair(random);
        Word word = word_between(base, next, one_process);
        shares.lower += word == Word::lower;
        shares.higher += word == Word::higher;
        shares.same += word == Word::same;
    }
    shares.lower /= trials(), shares.higher /= trials(), shares.same /= trials();
    std::printf("%-52s faster %5.2f %%, slower %5.2f %%, same %5.2f %% of %d\n", what, 100 * shares.lower,
                100 * shares.higher, 100 * shares.same, trials());
    return shares;
}

Shares between(const char* what, const Series& base, const Series& next, bool one_process = false) {
    return shares_of(what, one_process, [&](measure::Random& random) {
        std::vector<double> before = draw(base, random);
        return std::pair(std::move(before), draw(next, random));
    });
}

// One run, cut in two: what was first against what came later.
Shares halves(const char* what, const Series& whole) {
    return shares_of(what, true, [&](measure::Random& random) {
        std::vector<double> all = draw(whole, random);
        auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        return std::pair(std::vector<double>(all.begin(), middle), std::vector<double>(middle, all.end()));
    });
}

constexpr double kFalse = 0.01;

TEST(CompareTrials, EqualStepsAreSeldomCalledAChange) {
    for (std::size_t steps : {2U, 5U, 10U, 30U})
        EXPECT_LE(between("equal, 3 % of noise", {.steps = steps}, {.steps = steps}).changed(), kFalse + room(kFalse))
            << steps;
}

TEST(CompareTrials, StepsThatDependOnTheirNeighboursAreSeldomCalledAChange) {
    for (std::size_t steps : {5U, 20U, 100U}) {
        Series series{.steps = steps, .keep = 0.5};
        EXPECT_LE(between("equal, half of the noise kept", series, series).changed(), 2 * kFalse + room(2 * kFalse))
            << steps;
    }
}

TEST(CompareTrials, TailsOfBothSidesAreSeldomCalledAChange) {
    for (std::size_t steps : {8U, 50U, 200U}) {
        Series series{.steps = steps, .noise = 0.02, .tail = 0.05};
        EXPECT_LE(between("equal, both with a doubled 5 % tail", series, series).changed(), kFalse + room(kFalse))
            << steps;
    }
}

TEST(CompareTrials, DriftOfBothSidesIsSeldomCalledAChange) {
    Series series{.steps = 40, .noise = 0.02, .drift = 0.1};
    EXPECT_LE(between("equal, both drift by 10 %", series, series).changed(), kFalse + room(kFalse));
}

TEST(CompareTrials, HalvesOfOneRunAreSeldomCalledAChange) {
    EXPECT_LE(halves("halves, 3 % of noise", {.steps = 60}).changed(), kFalse + room(kFalse));
    EXPECT_LE(halves("halves, half of the noise kept", {.steps = 60, .keep = 0.5}).changed(), kFalse + room(kFalse));
    EXPECT_LE(halves("halves, 0.9 of the noise kept", {.steps = 60, .keep = 0.9}).changed(), kFalse + room(kFalse));
    EXPECT_LE(halves("halves, with a doubled 5 % tail", {.steps = 60, .tail = 0.05}).changed(), kFalse + room(kFalse));
    for (std::size_t steps : {10U, 40U, 200U})
        EXPECT_LE(halves("halves, drift of 10 %", {.steps = steps, .noise = 0.01, .drift = 0.1}).changed(),
                  kFalse + room(kFalse))
            << steps;
}

TEST(CompareTrials, LargeDifferencesOfFewStepsAreFound) {
    for (std::size_t steps : {3U, 5U, 7U}) {
        Series base{.steps = steps, .noise = 0.02}, next{.steps = steps, .noise = 0.02, .factor = 0.5};
        EXPECT_GE(between("half the time, few steps", base, next).lower, 0.95 - room(0.95)) << steps;
    }
}

TEST(CompareTrials, FivePercentUnderOnePercentOfNoiseIsFound) {
    Series base{.steps = 20, .noise = 0.01}, slower{.steps = 20, .noise = 0.01, .factor = 1.05};
    EXPECT_GE(between("5 % slower, 20 steps", base, slower).higher, 0.95 - room(0.95));
    EXPECT_GE(between("5 % faster, 20 steps", slower, base).lower, 0.95 - room(0.95));
}

TEST(CompareTrials, AChangeOfThreePercentIsSeldomCalledTheSame) {
    Series base{.steps = 200}, slower{.steps = 200, .factor = 1.03};
    EXPECT_LE(between("3 % slower, 3 % of noise", base, slower).same, kFalse + room(kFalse));
}

TEST(CompareTrials, NoiseOfThreePercentIsTheSame) {
    EXPECT_GE(between("equal, 200 steps", {.steps = 200}, {.steps = 200}).same, 0.95 - room(0.95));
}

TEST(CompareTrials, ADoubledTailIsFound) {
    Series base{.steps = 300, .noise = 0.02}, tail{.steps = 300, .noise = 0.02, .tail = 0.05};
    EXPECT_GE(between("each of 300 doubled with 5 %", base, tail).higher, 0.95 - room(0.95));
    Shares exactly = shares_of("10 of 200 doubled", false, [](measure::Random& random) {
        Series series{.steps = 200, .noise = 0.02};
        std::vector<double> before = draw(series, random), after = draw(series, random);
        for (std::size_t i = 0; i < 10; ++i) after[20 * i + random.next() % 20] *= 2;
        return std::pair(std::move(before), std::move(after));
    });
    EXPECT_GE(exactly.higher, 0.95 - room(0.95));
}

}  // namespace
}  // namespace gpuprof::compare
