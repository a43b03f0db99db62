// The metric energy: blocks of steps as samples, what cancels on one board and what does not.
#include "compare/energy_comparison.h"

#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "tests/unit/facts/energy_sim.h"

namespace gpuprof::compare {
namespace {

struct Board {
    const char* uuid = "GPU-1";
    double gain = 1, factor = 1;  // of the sensor; of the kernel's power
    double length_s = 120;
    bool sampled = true;
};

// Steps of half a second: a kernel, then a pause.
Trace trace_of(const Board& board, std::uint64_t seed) {
    SimulatedDevice device(seed);
    device.watts = {{"", 100}, {"gemm", 500 * board.factor}};
    device.run("", 1.5);
    TimeNs end = device.now() + static_cast<DurNs>(board.length_s * 1e9);
    for (int step = 0; device.now() < end; ++step) {
        TimeNs start = device.now();
        device.run("gemm", 0.4 * device.pick(0.97, 1.03));
        device.run("", 0.1);
        device.draft.range("main", start, device.now(), "ProfilerStep#" + std::to_string(step));
    }
    DeviceTable& devices = device.draft.tables().device;
    Row row = devices.add();
    devices.device.set(row, 0), devices.name.set(row, device.draft.intern("H200"));
    if (board.uuid != nullptr) devices.uuid.set(row, device.draft.intern(board.uuid));
    Sensors sensors;
    sensors.gain = board.gain;
    if (board.sampled) device.sample(sensors);
    return device.draft.finish();
}

Change change_between(const Board& base, const Board& next, std::uint64_t seed = 1) {
    compare::Run before = compare::run_of(trace_of(base, seed), Options{}),
                 after = compare::run_of(trace_of(next, seed + 100), Options{});
    return changes_of(before, after, {}, {})[static_cast<std::size_t>(Metric::energy)];
}

TEST(CompareEnergy, JoulesPerStepAreThoseOfTheDevice) {
    compare::Run run = compare::run_of(trace_of({}, 1), Options{});
    ASSERT_TRUE(run.metric(Metric::energy).value);
    EXPECT_NEAR(*run.metric(Metric::energy).value, 0.4 * 500 + 0.1 * 100, 6);
    EXPECT_GE(run.energy.blocks.size(), 4u);
    EXPECT_LT(run.energy.blocks.size(), 30u);  // no sample is a single step
    for (double joules : run.energy.blocks) EXPECT_NEAR(joules, 210, 15);
    EXPECT_LT(run.energy.uncertainty_pct, 3);
}

TEST(CompareEnergy, AChangeBeyondTheNoiseIsFoundOnOneBoard) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Change change = change_between({}, {.factor = 1.3}, seed);
        EXPECT_EQ(change.word, Word::higher) << change.because;
        ASSERT_TRUE(change.pct);
        EXPECT_NEAR(*change.pct, 28.6, 3);
        EXPECT_EQ(change_between({.factor = 1.3}, {}, seed).word, Word::lower);
    }
}

TEST(CompareEnergy, TheSameProgramIsNeverHigherOrLower) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Word word = change_between({}, {}, seed).word;
        EXPECT_TRUE(word == Word::same || word == Word::cannot_tell) << seed;
    }
}

// Sensors of two boards may differ by 10 %: so much is no change of the program.
TEST(CompareEnergy, BoardsThatDifferAreNoChangeOfTheProgram) {
    for (const char* other : {"GPU-2", static_cast<const char*>(nullptr)}) {
        Change change = change_between({.gain = 0.95}, {.uuid = other, .gain = 1.05});
        EXPECT_EQ(change.word, Word::cannot_tell) << change.because;
        EXPECT_NEAR(change.pct.value_or(0), 10.5, 2);
    }
    EXPECT_EQ(change_between({.gain = 0.95}, {.uuid = "GPU-2", .gain = 1.05, .factor = 2}).word, Word::higher);
}

TEST(CompareEnergy, WithoutSamplesThereIsNoValue) {
    Change change = change_between({}, {.sampled = false});
    EXPECT_TRUE(change.base);
    EXPECT_FALSE(change.next);
    EXPECT_FALSE(change.pct);
    EXPECT_EQ(change.word, Word::cannot_tell);
}

}  // namespace
}  // namespace gpuprof::compare
