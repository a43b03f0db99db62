// Energy of two benchmarks: what is compared, and how sure the change is.

#include <gtest/gtest.h>

#include "cli/bench/bench_compare.h"

namespace gpuprof {
namespace {

measure::Benchmark function(std::optional<double> joules, std::optional<double> off) {
    measure::Benchmark made;
    made.measurement.name = "f";
    made.measurement.energy_per_call_j = joules;
    made.measurement.energy_per_call_uncertainty_j = off;
    return made;
}

TEST(BenchEnergy, OfAFunctionNeedsItsUncertainty) {
    EXPECT_FALSE(energy_of(function({}, {})));
    EXPECT_FALSE(energy_of(function(2.0, {})));
    EXPECT_FALSE(energy_of(function(0.0, 0.1)));
    EXPECT_EQ(energy_of(function(2.0, 0.1))->joules, 2.0);
}

TEST(BenchEnergy, OfAProgramIsThatOfAllItsDevices) {
    measure::Benchmark made;
    made.program.emplace();
    EXPECT_FALSE(energy_of(made));
    made.program->devices.resize(2);
    made.program->devices[0].energy_j = 3, made.program->devices[0].energy_uncertainty_j = 0.5;
    EXPECT_FALSE(energy_of(made));
    made.program->devices[1].energy_j = 4, made.program->devices[1].energy_uncertainty_j = 0.25;
    EXPECT_EQ(energy_of(made)->joules, 7);
    EXPECT_EQ(energy_of(made)->off, 0.75);
}

TEST(BenchEnergy, TheUncertaintyOfBothSidesCounts) {
    EnergyChange change = change_of({10, 1}, {5, 0.5});
    EXPECT_DOUBLE_EQ(change.pct, -50);
    EXPECT_DOUBLE_EQ(*change.low_pct, 100 * (4.5 / 11 - 1));
    EXPECT_DOUBLE_EQ(*change.high_pct, 100 * (5.5 / 9 - 1));
    EXPECT_FALSE(change.is_open());
    EXPECT_TRUE(change_of({10, 1}, {9.5, 0.5}).is_open());
    EXPECT_TRUE(change_of({10, 12}, {1, 0.1}).is_open());
    EXPECT_EQ(to_text({10, 1}, {5, 0.5}, "call"), "5 J instead of 10 J per call (-50.0 %, -59.1 to -38.9 %)");
    EXPECT_EQ(
        to_text({10, 1}, {9.5, 0.5}, "run"),
        "9.5 J instead of 10 J per run (-5.0 %, -18.2 to +11.1 %; the uncertainty of the sensors leaves open which "
        "needs less)");
}

TEST(BenchEnergy, IsInTheComparison) {
    measure::BenchDocument before, after;
    before.benchmarks = {function(10, 1)}, after.benchmarks = {function(5, 0.5)};
    BenchComparison found = compare_results(before, after, 0.01, {}).value();
    std::size_t last = found.table.columns().size() - 1;
    EXPECT_EQ(std::get<double>(found.table.cell(0, last)), -50);
    EXPECT_EQ(found.table.notes.back(), "f: 5 J instead of 10 J per call (-50.0 %, -59.1 to -38.9 %)");
    after.benchmarks = {function({}, {})};
    found = compare_results(before, after, 0.01, {}).value();
    EXPECT_TRUE(std::holds_alternative<std::monostate>(found.table.cell(0, last)));
}

}  // namespace
}  // namespace gpuprof
