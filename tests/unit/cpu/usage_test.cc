// Time ready to run, from a made-up /proc: per interval, for the idle spans too, and absent where the kernel does not count.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "collect/cpu/usage.h"
#include "io/importers/open_trace.h"

namespace gpuprof {
namespace {

TEST(SchedStat, ReadsItsFields) {
    std::optional<SchedStat> stat = parse_schedstat("2365720 1204 17\n");
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->run, 2365720);
    EXPECT_EQ(stat->ready, 1204);
}

TEST(SchedStat, AKernelThatDoesNotCountSaysNothing) {
    EXPECT_FALSE(parse_schedstat("0 0 0\n"));
    EXPECT_TRUE(parse_schedstat("0 5 1\n"));
    for (std::string_view cut : {"", "\n", "12", "12 5", "12 5 ", "x 1 2", "1 x 2", "-1 2 3", "1 -2 3"})
        EXPECT_FALSE(parse_schedstat(cut)) << cut;
}

class Usage : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "usageXXXXXX";
        root_ = mkdtemp(pattern.data());
        files_ = ProcFiles(root_ + "/proc");
        part_ = CapturePart::open(root_ + "/part.gpuprof", "test").value();
        usage_ = std::make_unique<UsageRecorder>(files_, *part_, "h", false);
        thread_used(1, "5 70 1");
        look(0);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    // What the files of thread 7 of process 7 say from now on.
    void thread_used(long ticks, const std::string& schedstat) {
        std::string folder = root_ + "/proc/7/task/7";
        std::filesystem::create_directories(folder);
        std::string stat = "7 (p) S 1 1 1 0 -1 4194304 100 0 0 0 " + std::to_string(ticks) +
                           " 0 0 0 20 0 1 0 1 3133440 380 184467440 1 2\n";
        std::ofstream(root_ + "/proc/7/stat") << stat;
        std::ofstream(folder + "/stat") << stat;
        if (schedstat.empty())
            std::filesystem::remove(folder + "/schedstat");
        else
            std::ofstream(folder + "/schedstat") << schedstat << "\n";
    }
    void look(DurNs after) { usage_->look({7}, start_ + after); }
    // Rows of the thread: (duration in ms, ready in ns; -1 if absent).
    std::vector<std::pair<DurNs, std::int64_t>> rows() {
        usage_->finish();
        EXPECT_TRUE(part_->close());
        Result<Trace> trace = open_trace(root_ + "/part.gpuprof");
        std::vector<std::pair<DurNs, std::int64_t>> rows;
        const CpuSampleTable& table = trace->tables().cpu_sample;
        for (Row row = 0; row < table.rows; ++row)
            if (table.thread.has(row))
                rows.emplace_back(table.dur[row] / kMillisecond, table.ready_ns.value_or(row, -1));
            else
                EXPECT_FALSE(table.ready_ns.has(row));
        return rows;
    }

    std::string root_;
    ProcFiles files_;
    std::unique_ptr<CapturePart> part_;
    std::unique_ptr<UsageRecorder> usage_;
    TimeNs start_ = machine_start_ns() + 3'600'000'000'000;
};

using Rows = std::vector<std::pair<DurNs, std::int64_t>>;

TEST_F(Usage, EachIntervalHasItsOwn) {
    thread_used(3, "5 5070 9");
    look(100 * kMillisecond);
    thread_used(4, "5 5070 9");
    look(200 * kMillisecond);
    Rows read = rows();
    ASSERT_EQ(read.size(), 3u);
    EXPECT_EQ(read[0].second, 70);
    EXPECT_EQ(read[1], (std::pair<DurNs, std::int64_t>{100, 5000}));
    EXPECT_EQ(read[2], (std::pair<DurNs, std::int64_t>{100, 0}));
}

TEST_F(Usage, ShortWaitsOfAThreadWithoutUseAreOneRow) {
    for (int i = 1; i <= 5; ++i) {
        thread_used(1, "5 " + std::to_string(70 + 1000 * i) + " 9");
        look(100 * kMillisecond * i);
    }
    Rows read = rows();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[1], (std::pair<DurNs, std::int64_t>{500, 5000}));
}

TEST_F(Usage, ALongWaitOfAThreadWithoutUseHasItsInterval) {
    thread_used(1, "5 1070 9");
    look(100 * kMillisecond);
    thread_used(1, "5 90001070 10");
    look(200 * kMillisecond);
    thread_used(1, "5 90001070 10");
    look(300 * kMillisecond);
    Rows read = rows();
    ASSERT_EQ(read.size(), 4u);
    EXPECT_EQ(read[1], (std::pair<DurNs, std::int64_t>{100, 1000}));
    EXPECT_EQ(read[2], (std::pair<DurNs, std::int64_t>{100, 90'000'000}));
    EXPECT_EQ(read[3], (std::pair<DurNs, std::int64_t>{100, 0}));
}

TEST_F(Usage, IsAbsentWhereTheKernelDoesNotCount) {
    thread_used(3, "0 0 0");
    look(100 * kMillisecond);
    thread_used(5, "");
    look(200 * kMillisecond);
    look(300 * kMillisecond);
    Rows read = rows();
    ASSERT_EQ(read.size(), 4u);
    for (std::size_t row = 1; row < 4; ++row) EXPECT_EQ(read[row].second, -1);
}

}  // namespace
}  // namespace gpuprof
