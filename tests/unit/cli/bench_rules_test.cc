// What options of `bench` make of the rules for programs.
#include "cli/bench/rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof {
namespace {

Result<measure::StoppingOptions> rules(const std::vector<std::string>& given) { return program_rules(given); }

TEST(BenchRules, WhatIsNotGivenIsUsualForPrograms) {
    measure::StoppingOptions found = rules({}).value();
    EXPECT_EQ(found.min_time, kProgramRules.min_time);
    EXPECT_EQ(found.min_samples, 10u);
    found = rules({"--min-time=0.25", "--precision=0.1", "--stop=samples", "--time-out=7"}).value();
    EXPECT_EQ(found.min_time, 250'000'000);
    EXPECT_EQ(found.timeout, 7'000'000'000);
    EXPECT_EQ(found.precision, 0.1);
    EXPECT_EQ(found.rule, measure::StopRule::samples);
    EXPECT_EQ(found.max_samples, 1000u);
}

TEST(BenchRules, TheLastOfAnOptionCounts) {
    EXPECT_EQ(rules({"--min-time=1", "--min-time=2"}).value().min_time, 2'000'000'000);
}

TEST(BenchRules, OneBoundMovesTheOther) {
    EXPECT_EQ(rules({"--min-samples=5000"}).value().max_samples, 5000u);
    EXPECT_EQ(rules({"--max-samples=4"}).value().min_samples, 4u);
}

TEST(BenchRules, TwoBoundsThatContradictAreRefused) {
    EXPECT_EQ(rules({"--min-samples=10", "--max-samples=5"}).error().message,
              "--min-samples (10) must not exceed --max-samples (5)");
    EXPECT_FALSE(rules({"--stop=never"}).ok());
}

}  // namespace
}  // namespace gpuprof
