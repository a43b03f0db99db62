// Rings of context switches as the kernel writes them, and the stretches of time that follow from them.
#include <gtest/gtest.h>

#include <random>

#include "collect/cpu/switch_slices.h"
#include "tests/unit/cpu/switches.h"

namespace gpuprof {
namespace {

using End = CpuStretch::End;

class Switches : public testing::Test {
protected:
    ~Switches() override { ring_.free(); }
    // Reads what was appended, as stretches.
    std::vector<CpuStretch> read() {
        std::vector<SwitchRecord> records;
        std::vector<CpuStretch> stretches;
        discarded_ = reader_.read(records);
        for (const SwitchRecord& record : records) slices_.take(record, stretches);
        if (discarded_ > 0) slices_.damaged();
        return stretches;
    }
    void expect(const CpuStretch& stretch, TimeNs start, TimeNs end, pid_t thread, End how) {
        EXPECT_EQ(stretch.start, start);
        EXPECT_EQ(stretch.start + stretch.dur, end);
        EXPECT_EQ(stretch.thread, thread);
        EXPECT_EQ(stretch.end, how);
    }

    ScriptedRing ring_{4096, 4096};
    PerfRing reader_{ring_.control(), ring_.data(), ring_.size()};
    SwitchSlices slices_;
    std::size_t discarded_ = 0;
};

TEST_F(Switches, StretchesBeginAndEndAsTheKernelSays) {
    ring_.append(executed(10, 100));
    ring_.append(switch_out(10, 10, 150, true));
    ring_.append(switch_in(10, 11, 160));
    ring_.append(switch_out(10, 11, 170));
    ring_.append(switch_in(10, 10, 200));
    ring_.append(renamed(10, 210));
    ring_.append(ended(10, 10, 230));
    std::vector<CpuStretch> read = this->read();
    ASSERT_EQ(read.size(), 3u);
    expect(read[0], 100, 150, 10, End::preempted);
    expect(read[1], 160, 170, 11, End::blocked);
    expect(read[2], 200, 230, 10, End::ended);
    EXPECT_EQ(read[1].process, 10);
    EXPECT_EQ(slices_.lost() + slices_.dropped(), 0u);
    EXPECT_EQ(ring_.control().data_tail, ring_.control().data_head);
}

TEST_F(Switches, AStretchMayTakeSeveralReadings) {
    ring_.append(switch_in(1, 1, 5));
    EXPECT_TRUE(read().empty());
    EXPECT_TRUE(read().empty());
    ring_.append(switch_out(1, 1, 50));
    std::vector<CpuStretch> read = this->read();
    ASSERT_EQ(read.size(), 1u);
    expect(read[0], 5, 50, 1, End::blocked);
}

TEST_F(Switches, RecordsWrapAtEveryByteOfThem) {
    for (std::size_t before = 0; before <= 64; ++before) {
        ring_.begin_at(3 * ring_.size() - before);
        ring_.append(switch_in(1, 7, 10));
        ring_.append(switch_out(1, 7, 30, true));
        std::vector<CpuStretch> read = this->read();
        ASSERT_EQ(read.size(), 1u) << before;
        expect(read[0], 10, 30, 7, End::preempted);
        EXPECT_EQ(discarded_, 0u);
    }
}

TEST_F(Switches, LostRecordsMakeTheTimeUnknown) {
    ring_.append(switch_in(1, 1, 100));
    ring_.append(switch_out(1, 1, 110, true));
    ring_.append(switch_in(1, 2, 110));
    ring_.append(lost_records(40, 300));
    ring_.append(switch_out(1, 3, 301));  // its beginning is among the lost
    ring_.append(switch_in(1, 1, 310));
    ring_.append(switch_out(1, 1, 320));
    std::vector<CpuStretch> read = this->read();
    ASSERT_EQ(read.size(), 4u);
    expect(read[0], 100, 110, 1, End::preempted);
    expect(read[1], 110, 300, 0, End::lost);
    expect(read[2], 300, 301, 0, End::lost);
    expect(read[3], 310, 320, 1, End::blocked);
    EXPECT_EQ(slices_.lost(), 40u);
    EXPECT_EQ(slices_.dropped(), 0u);
}

TEST_F(Switches, EndsThatDoNotFitAreDroppedAndCounted) {
    ring_.append(switch_out(1, 1, 90));  // never came
    ring_.append(switch_in(1, 1, 100));
    ring_.append(switch_in(1, 2, 110));   // never left
    ring_.append(switch_out(1, 3, 120));  // another one
    ring_.append(switch_in(1, 4, 130));
    ring_.append(switch_out(1, 4, 125));  // the clock was set
    EXPECT_TRUE(read().empty());
    EXPECT_EQ(slices_.dropped(), 4u);
}

TEST_F(Switches, AThreadThatExecutesTakesTheIdOfItsProcess) {
    ring_.append(switch_in(1, 5, 100));
    ring_.append(executed(1, 120));
    ring_.append(switch_out(1, 1, 150));
    std::vector<CpuStretch> read = this->read();
    ASSERT_EQ(read.size(), 2u);
    expect(read[0], 100, 120, 5, End::ended);
    expect(read[1], 120, 150, 1, End::blocked);
}

TEST_F(Switches, TornRecordsEndTheReadingNotTheReader) {
    std::string whole = switch_in(1, 1, 100);
    for (std::size_t size = 1; size < whole.size(); ++size) {
        ring_.append(whole.substr(0, size));
        EXPECT_TRUE(read().empty());
        EXPECT_EQ(discarded_, size);
    }
    std::string impossible = whole;
    impossible[6] = 3, impossible[7] = 0;  // smaller than its own header
    ring_.append(impossible);
    ring_.append(switch_in(1, 1, 200));
    EXPECT_TRUE(read().empty());
    EXPECT_EQ(discarded_, 2 * whole.size());
    ring_.control().data_head += 2 * ring_.size();  // more than fits
    EXPECT_TRUE(read().empty());
    EXPECT_EQ(discarded_, 2 * ring_.size());
    EXPECT_EQ(slices_.lost(), whole.size() + 1);
    ring_.append(switch_in(1, 1, 300));
    ring_.append(switch_out(1, 1, 310));
    ASSERT_EQ(read().size(), 1u);
}

TEST_F(Switches, EveryTypeAndSizeIsReadWithinItsBounds) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 20'000; ++trial) {
        std::size_t size = 8 + random() % 120;
        std::string record(size, '\0');
        for (char& byte : record) byte = static_cast<char>(random());
        record.replace(0, 8, number_bytes(random() % 20, 4) + number_bytes(random(), 2) + number_bytes(size, 2));
        ring_.append(record);
        read();
        EXPECT_EQ(discarded_, 0u);
    }
}

}  // namespace
}  // namespace gpuprof
