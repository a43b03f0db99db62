// Messages come back as they went; anything else is no message.
#include "collect/device/sampler_wire.h"

#include <gtest/gtest.h>

#include <random>

namespace gpuprof {
namespace {

PollMessage example() {
    PollMessage batch;
    Reading reading;
    reading.time = 1'700'000'000'123'456'789;
    reading.device = 3;
    reading.set(Metric::util_gpu, 97);
    reading.set(Metric::gpm_nvlink_rx, 0.1);
    batch.polled.readings.push_back(reading);
    reading.present = {};
    reading.set(Metric::energy, 17.5);
    batch.polled.energy.push_back(reading);
    batch.polled.processes.push_back({5, 1, 4242, 12.5, std::nullopt});
    batch.polled.faults.push_back({7, -1, MetricSet{Metric::power}, true, "GPU 3 fell off the bus"});
    batch.ended = true;
    return batch;
}

TEST(Wire, MessagesComeBack) {
    std::string packet = encode(example());
    std::optional<Message> message = decode(packet);
    ASSERT_TRUE(message && std::holds_alternative<PollMessage>(*message));
    const auto& batch = std::get<PollMessage>(*message);
    EXPECT_EQ(batch.polled.readings[0].time, 1'700'000'000'123'456'789);
    EXPECT_EQ(batch.polled.readings[0].get(Metric::gpm_nvlink_rx), 0.1);
    EXPECT_FALSE(batch.polled.readings[0].get(Metric::power));
    EXPECT_EQ(batch.polled.energy[0].get(Metric::energy), 17.5);
    EXPECT_EQ(batch.polled.processes[0].mem_used_mb, 12.5);
    EXPECT_FALSE(batch.polled.processes[0].util_gpu);
    EXPECT_EQ(batch.polled.faults[0].sentence, "GPU 3 fell off the bus");
    EXPECT_TRUE(batch.ended);
    EXPECT_EQ(encode(*message), packet);

    Start start{{.backend = "replay:x",
                 .devices = "all",
                 .visible_devices = "1",
                 .visible_set = true,
                 .interval = 5,
                 .avoid = {"a", "b"}},
                9};
    EXPECT_EQ(encode(*decode(encode(start))), encode(start));
    EXPECT_TRUE(std::holds_alternative<Stop>(*decode(encode(Stop{}))));
}

TEST(Wire, CutAndForgedPacketsAreNoMessages) {
    std::string packet = encode(example());
    for (std::size_t size = 0; size < packet.size(); ++size) EXPECT_FALSE(decode(packet.substr(0, size))) << size;
    EXPECT_FALSE(decode(packet + "x"));
    EXPECT_FALSE(decode("\xff"));
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string forged = packet;
        for (int flips = 0; flips < 3; ++flips) forged[random() % forged.size()] = static_cast<char>(random());
        (void)decode(forged);  // anything but a crash, a hang or much memory
    }
}

}  // namespace
}  // namespace gpuprof
