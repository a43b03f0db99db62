// What the live state remembers, and when it stops believing a value.
#include <gtest/gtest.h>

#include "tests/unit/cli/sample_states.h"

namespace gpuprof {
namespace {

TEST(LiveState, a_value_is_absent_until_it_is_read_and_when_it_is_old) {
    DrawnState drawn;
    const LiveDevice& device = drawn.state.devices()[0];
    EXPECT_FALSE(drawn.state.value(device, Metric::util_gpu, kNoon));
    drawn.read(0, {{Metric::util_gpu, 0}, {Metric::energy, 5}});
    EXPECT_EQ(drawn.state.value(device, Metric::util_gpu, kNoon), 0);
    EXPECT_TRUE(drawn.state.alive(device, kNoon));
    EXPECT_FALSE(drawn.state.value(device, Metric::util_gpu, kNoon + 6 * kTick));
    EXPECT_FALSE(drawn.state.alive(device, kNoon + 6 * kTick));
    EXPECT_EQ(drawn.state.value(device, Metric::energy, kNoon + 30 * kTick), 5);  // read every ten seconds
    EXPECT_FALSE(drawn.state.value(device, Metric::energy, kNoon + 33 * kTick));
}

TEST(LiveState, a_fault_takes_away_its_metrics_and_a_loss_all) {
    DrawnState drawn(2);
    drawn.read(0, {{Metric::util_gpu, 40}, {Metric::power, 300}});
    drawn.read(0, {{Metric::util_gpu, 41}}, 1);
    drawn.fault({Metric::power}, false, "GPU 0 does not report power");
    const LiveDevice& device = drawn.state.devices()[0];
    EXPECT_FALSE(drawn.state.value(device, Metric::power, kNoon));
    EXPECT_EQ(drawn.state.value(device, Metric::util_gpu, kNoon), 40);
    drawn.process(0, 17, 100);
    drawn.fault({}, true, "GPU 0 is lost");
    EXPECT_FALSE(drawn.state.alive(device, kNoon));
    EXPECT_FALSE(drawn.state.value(device, Metric::util_gpu, kNoon));
    EXPECT_TRUE(drawn.state.processes(device, kNoon).empty());
    EXPECT_EQ(device.problem, "GPU 0 is lost");
    EXPECT_TRUE(drawn.state.alive(drawn.state.devices()[1], kNoon));
    drawn.read(1, {{Metric::util_gpu, 42}});
    EXPECT_TRUE(drawn.state.alive(device, kNoon + kTick));
    EXPECT_EQ(device.problem, "");
}

TEST(LiveState, history_has_means_of_intervals_and_blanks_for_gaps) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 10}});
    drawn.read(0, {{Metric::util_gpu, 30}});
    drawn.read(6, {{Metric::util_gpu, 50}});
    std::vector<std::optional<double>> past =
        drawn.state.history(drawn.state.devices()[0], Metric::util_gpu, 8, kNoon + 6 * kTick);
    std::vector<std::optional<double>> wanted{{}, 20, 20, 20, {}, {}, {}, 50};  // held for three turns
    EXPECT_EQ(past, wanted);
}

TEST(LiveState, history_is_bounded) {
    DrawnState drawn;
    for (int i = 0; i < 3000; ++i) drawn.read(i, {{Metric::util_gpu, 1}});
    EXPECT_EQ(drawn.state.devices()[0].history.size(), LiveState::kSlots);
}

TEST(LiveState, processes_go_when_they_are_seen_no_more) {
    DrawnState drawn;
    drawn.process(0, 17, 100);
    drawn.process(0, 18, 200);
    const LiveDevice& device = drawn.state.devices()[0];
    ASSERT_EQ(drawn.state.processes(device, kNoon).size(), 2u);
    EXPECT_EQ(drawn.state.processes(device, kNoon)[0].pid, 18);
    EXPECT_TRUE(drawn.state.processes(device, kNoon + 20 * kTick).empty());
    drawn.read(20, {{Metric::util_gpu, 1}});
    EXPECT_TRUE(device.processes.empty());
}

// A sampler that was started anew after a crash sends the devices again.
TEST(LiveState, the_past_of_a_device_outlives_its_sampler) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 10}});
    Opened again;
    again.devices = {drawn.state.devices()[0].known};
    drawn.state.opened(again);
    EXPECT_EQ(drawn.state.devices()[0].history.size(), 1u);
    again.devices[0].uuid = "GPU-other";
    drawn.state.opened(again);
    EXPECT_TRUE(drawn.state.devices()[0].history.empty());
}

}  // namespace
}  // namespace gpuprof
