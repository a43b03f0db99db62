// The monitor across threads, again and again, and in a child of fork(). The sampler is the program of this build.
#include "collect/device/monitor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "tests/unit/source_folder.h"

namespace gpuprof {
namespace {

const std::string kSeries = "replay:" + source_folder() + "/tests/fixtures/nvml/bursty.csv";

MonitorOptions replay(std::string_view speed) {
    MonitorOptions options;
    options.request.backend = kSeries + std::string(speed);
    options.request.interval = 10'000'000;
    options.start_timeout = 60'000'000'000;  // a sanitizer's sampler on a busy machine takes seconds to start
    return options;
}

// start() waits for the first readings only, and stop() gives up on a sampler that gets no CPU for most of a second.
bool has_samples(const Monitor& monitor, std::int64_t count) {
    for (TimeNs end = monotonic_ns() + 60 * kSecond; monotonic_ns() < end; usleep(1000))
        if (std::vector<GpuSummary> now = monitor.summaries(); !now.empty() && now[0].n_samples >= count) return true;
    return false;
}

TEST(Monitor, ARegionHasItsSamples) {
    Monitor monitor(replay("@max"));
    ASSERT_TRUE(monitor.start().ok());
    EXPECT_TRUE(monitor.running());
    EXPECT_TRUE(has_samples(monitor, 566));
    monitor.stop();
    EXPECT_FALSE(monitor.running());
    ASSERT_EQ(monitor.summaries().size(), 1u);
    EXPECT_EQ(monitor.summaries()[0].n_samples, 566);
    EXPECT_EQ(monitor.samples(0).size(), 566u);
    EXPECT_TRUE(monitor.samples(1).empty());
    monitor.stop();  // twice is no error
}

TEST(Monitor, BeginsAnewAtEachStart) {
    Monitor monitor(replay("@max"));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(monitor.start().ok());
        EXPECT_TRUE(has_samples(monitor, 566));
        monitor.stop();
        EXPECT_EQ(monitor.summaries()[0].n_samples, 566);
    }
}

TEST(Monitor, ManyAtOnceFromManyThreads) {
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&right] {
            for (int round = 0; round < 5; ++round) {
                Monitor monitor(replay("@max"));
                if (monitor.start().ok() && has_samples(monitor, 566)) monitor.stop();
                right += monitor.summaries()[0].n_samples == 566;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 20);
}

TEST(Monitor, AnyThreadMayAskWhileItRuns) {
    Monitor monitor(replay(""));
    ASSERT_TRUE(monitor.start().ok());
    std::atomic<bool> stopped = false;
    std::thread asks([&monitor, &stopped] {
        for (int after = 0; after < 20; after += stopped) {
            monitor.summaries();
            monitor.samples(0);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    });
    std::thread stops([&monitor, &stopped] {
        EXPECT_TRUE(has_samples(monitor, 1));
        monitor.stop();
        stopped = true;
    });
    asks.join();
    stops.join();
    EXPECT_GT(monitor.summaries()[0].n_samples, 0);
}

TEST(Monitor, WithoutDeviceTheReasonIsANoteAndStrictRefuses) {
    MonitorOptions options;
    options.request.backend = "replay:/no/such/file.csv";
    options.start_timeout = 60'000'000'000;
    Monitor monitor(options);
    ASSERT_TRUE(monitor.start().ok());
    monitor.stop();
    GpuSummary summary = monitor.summaries()[0];
    EXPECT_EQ(summary.n_samples, 0);
    ASSERT_FALSE(summary.notes.empty());
    EXPECT_NE(summary.notes[0].find("/no/such/file.csv"), std::string::npos);
    options.strict = true;
    Monitor strict(options);
    Status status = strict.start();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ExitCode::unreadable);
}

TEST(Monitor, AMissingSamplerIsAReasonToo) {
    MonitorOptions options = replay("@max");
    options.program = "/no/such/gpu-profile";
    Monitor monitor(options);
    ASSERT_TRUE(monitor.start().ok());
    monitor.stop();
    EXPECT_NE(monitor.summaries()[0].notes[0].find("/no/such/gpu-profile"), std::string::npos);
}

TEST(Monitor, InAChildOfForkItIsDeadAndNothingHangs) {
    Monitor monitor(replay(""));
    ASSERT_TRUE(monitor.start().ok());
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        bool dead = !monitor.running() && monitor.summaries()[0].n_samples == 0;
        monitor.stop();
        _exit(dead ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(monitor.running());
    EXPECT_TRUE(has_samples(monitor, 1));
    monitor.stop();
    EXPECT_GT(monitor.summaries()[0].n_samples, 0);
}

}  // namespace
}  // namespace gpuprof
