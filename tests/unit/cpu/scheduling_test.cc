// The recorder of context switches over scripted rings: rows of several CPUs, losses, and each way in which a kernel refuses.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <list>

#include "collect/cpu/scheduling.h"
#include "core/base/host_name.h"
#include "io/importers/open_trace.h"
#include "tests/unit/cpu/switches.h"
#include "tests/unit/loss_count.h"

namespace gpuprof {
namespace {

constexpr TimeNs kStart = 1'700'000'000'000'000'000;

class Scheduling : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "schedulingXXXXXX";
        folder_ = mkdtemp(pattern.data());
        system_ = {.open =
                       [this](perf_event_attr& attr, int cpu) {
                           attr_ = attr;
                           if (answer_ != 0) return -answer_;
                           // Always readable, so that the recorder reads again and again.
                           return cpu == off_ ? -ENODEV : eventfd(1, EFD_CLOEXEC);
                       },
                   .map = [this](int, std::size_t bytes) -> void* {
                       errno = EPERM;
                       if (bytes > most_bytes_) return nullptr;
                       auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
                       return rings_.emplace_back(page, bytes - page).memory();
                   },
                   .cpus = [] { return 3; },
                   .read = [](const char*) { return std::string("4\n"); }};
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string file() const { return folder_ + "/part.gpuprof"; }
    std::string refusal() {
        Result<std::unique_ptr<SchedulingRecorder>> recorder = SchedulingRecorder::open(file(), system_);
        EXPECT_FALSE(recorder.ok());
        EXPECT_FALSE(std::filesystem::exists(file()));
        return recorder.ok() ? "" : recorder.error().message;
    }

    std::string folder_;
    PerfSystem system_;
    perf_event_attr attr_{};
    int answer_ = 0, off_ = -1;
    std::size_t most_bytes_ = std::size_t{1} << 30;
    std::list<ScriptedRing> rings_;
};

TEST_F(Scheduling, WritesTheStretchesOfAllCpus) {
    off_ = 1;
    std::unique_ptr<SchedulingRecorder> recorder = SchedulingRecorder::open(file(), system_).value();
    ASSERT_EQ(rings_.size(), 2u);
    rings_.front().append(executed(10, kStart));
    rings_.front().append(switch_out(10, 10, kStart + 100, true));
    rings_.back().append(switch_in(10, 11, kStart + 50));
    rings_.back().append(switch_out(10, 11, kStart + 90));
    rings_.back().append(switch_in(10, 10, kStart + 150));
    rings_.back().append(ended(10, 10, kStart + 180));
    recorder->start();
    ASSERT_TRUE(recorder->stop());
    EXPECT_EQ(recorder->cost().stretches, 3u);
    Result<Trace> trace = open_trace(file());
    ASSERT_TRUE(trace.ok());
    const CpuSliceTable& table = trace->tables().cpu_slice;
    ASSERT_EQ(table.rows, 3u);
    std::string process = host_name() + ":10";
    EXPECT_EQ(table.start[0], kStart);
    EXPECT_EQ(table.dur[0], 100);
    EXPECT_EQ(table.cpu[0], 0);
    EXPECT_EQ(trace->text(table.thread[0]), process + "/10");
    EXPECT_EQ(trace->text(table.process[0]), process);
    EXPECT_EQ(trace->text(table.end_state[0]), "preempted");
    EXPECT_EQ(table.cpu[1], 2);
    EXPECT_EQ(trace->text(table.thread[1]), process + "/11");
    EXPECT_EQ(trace->text(table.end_state[1]), "blocked");
    EXPECT_EQ(table.dur[2], 30);
    EXPECT_FALSE(table.end_state.has(2));
    EXPECT_EQ(losses(*trace, "recorder_loss"), 0);
}

TEST_F(Scheduling, TheEventBeginsWithTheCommandAndNeedsLittlePermission) {
    std::unique_ptr<SchedulingRecorder> recorder = SchedulingRecorder::open(file(), system_).value();
    EXPECT_TRUE(attr_.disabled && attr_.enable_on_exec && attr_.inherit && attr_.context_switch &&
                attr_.exclude_kernel);
    EXPECT_TRUE(recorder->stop());
}

TEST_F(Scheduling, LostRecordsAreALossAndARowWithoutThread) {
    std::unique_ptr<SchedulingRecorder> recorder = SchedulingRecorder::open(file(), system_).value();
    rings_.front().append(switch_in(10, 10, kStart));
    rings_.front().append(lost_records(7, kStart + 40));
    recorder->start();
    ASSERT_TRUE(recorder->stop());
    EXPECT_EQ(recorder->cost().lost, 7u);
    Result<Trace> trace = open_trace(file());
    const CpuSliceTable& table = trace->tables().cpu_slice;
    ASSERT_EQ(table.rows, 1u);
    EXPECT_EQ(trace->text(table.end_state[0]), "lost");
    EXPECT_FALSE(table.thread.has(0));
    EXPECT_EQ(losses(*trace, "recorder_loss"), 7);
}

TEST_F(Scheduling, ManyMoreRowsThanOneFlush) {
    std::unique_ptr<SchedulingRecorder> recorder = SchedulingRecorder::open(file(), system_).value();
    recorder->start();
    constexpr std::uint64_t kSwitches = 40'000;
    ScriptedRing& ring = rings_.front();
    for (std::uint64_t i = 0; i < kSwitches; ++i) {
        // As the kernel does, but it would count the record as lost instead of waiting.
        while (ring.control().data_head - __atomic_load_n(&ring.control().data_tail, __ATOMIC_ACQUIRE) + 64 >
               ring.size())
            usleep(100);
        std::string pair = switch_in(10, static_cast<pid_t>(i % 300 + 1), kStart + static_cast<TimeNs>(i) * 10) +
                           switch_out(10, static_cast<pid_t>(i % 300 + 1), kStart + static_cast<TimeNs>(i) * 10 + 5);
        std::uint64_t head = ring.control().data_head;
        for (std::size_t at = 0; at < pair.size(); ++at)
            static_cast<char*>(
                ring.memory())[sysconf(_SC_PAGESIZE) + static_cast<long>((head + at) & (ring.size() - 1))] = pair[at];
        __atomic_store_n(&ring.control().data_head, head + pair.size(), __ATOMIC_RELEASE);
    }
    ASSERT_TRUE(recorder->stop());
    Result<Trace> trace = open_trace(file());
    EXPECT_EQ(trace->tables().cpu_slice.rows, kSwitches);
    EXPECT_EQ(losses(*trace, "recorder_loss"), 0);
}

TEST_F(Scheduling, RefusalsSayWhyAndWhatToDo) {
    answer_ = EACCES;
    EXPECT_NE(refusal().find("perf_event_paranoid is 4"), std::string::npos);
    answer_ = EPERM;
    EXPECT_NE(refusal().find("--cap-add PERFMON"), std::string::npos);
    answer_ = ENOSYS;
    EXPECT_NE(refusal().find("Function not implemented"), std::string::npos);
    answer_ = EINVAL;
    EXPECT_NE(refusal().find("Linux 4.3"), std::string::npos);
    answer_ = EMFILE;
    EXPECT_NE(refusal().find("ulimit -n"), std::string::npos);
    answer_ = 0, most_bytes_ = 0;
    EXPECT_NE(refusal().find("perf_event_mlock_kb"), std::string::npos);
}

TEST_F(Scheduling, ASmallerRingIsBetterThanNone) {
    most_bytes_ = 100'000;
    std::unique_ptr<SchedulingRecorder> recorder = SchedulingRecorder::open(file(), system_).value();
    EXPECT_EQ(rings_.front().size(), 64u << 10);
    EXPECT_TRUE(recorder->stop());
}

}  // namespace
}  // namespace gpuprof
