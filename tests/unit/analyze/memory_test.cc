// The peak of a device's memory and its owners, from allocator events written out by hand.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/memory_draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

// A positive size allocates, a negative one releases; total < 0: the allocator did not say.
void event(Draft& draft, TimeNs time, std::int64_t address, std::int64_t bytes, std::int64_t total) {
    MemoryEventTable& table = draft.tables().memory_event;
    Row row = table.add();
    table.time.set(row, time);
    table.thread.set(row, draft.thread_key("main"));
    table.device_type.set(row, 1);
    table.device.set(row, 0);
    table.address.set(row, address);
    table.bytes.set(row, bytes);
    if (total >= 0) table.total_allocated.set(row, total);
    if (total >= 0) table.total_reserved.set(row, 2 * total);
}

TEST(Memory, PeakAndOwners) {
    Draft draft;
    draft.range("main", 100, 1000, "step");
    draft.op("main", 200, 300, "aten::mm");
    draft.op("main", 210, 220, "aten::empty");
    draft.op("main", 400, 500, "aten::add");
    event(draft, 215, 1, 4 * kMiB, 10 * kMiB);  // by aten::empty for aten::mm
    event(draft, 430, 2, 2 * kMiB, 12 * kMiB);
    event(draft, 420, 3, -kMiB, 10 * kMiB);  // from before the recording; not in order of time
    event(draft, 460, 4, 2 * kMiB, 14 * kMiB);
    event(draft, 550, 1, -4 * kMiB, 10 * kMiB);
    event(draft, 600, 5, 4 * kMiB, 14 * kMiB);  // as high, but later
    Trace trace = draft.finish();
    ReadTable table(trace, "memory");
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.integer(0, "peak_bytes"), 14 * kMiB);
    EXPECT_EQ(table.integer(0, "at_ns"), 360);
    EXPECT_EQ(table.integer(0, "allocated"), 8 * kMiB);
    EXPECT_EQ(table.integer(0, "reserved"), 28 * kMiB);
    EXPECT_EQ(table.text(0, "largest"), "4.00 MiB aten::mm, 2 x 2.00 MiB aten::add");
}

TEST(Memory, WithoutTotalsCountsTheRecording) {
    Draft draft;
    draft.range("main", 0, 1000, "step");
    event(draft, 10, 1, 3 * kMiB, -1);
    event(draft, 20, 2, 4 * kMiB, -1);
    event(draft, 30, 1, -3 * kMiB, -1);
    Trace trace = draft.finish();
    ReadTable table(trace, "memory");
    EXPECT_EQ(table.integer(0, "peak_bytes"), 7 * kMiB);
    EXPECT_TRUE(table.absent(0, "reserved"));
    EXPECT_EQ(table.text(0, "largest"), "4.00 MiB step, 3.00 MiB step");
    EXPECT_EQ(table.notes().size(), 1u);
}

TEST(Memory, NothingRecorded) {
    Draft draft;
    draft.kernel(0, 7, 0, 10, "k");
    Trace trace = draft.finish();
    ReadTable table(trace, "memory");
    EXPECT_EQ(table.rows(), 0u);
    EXPECT_EQ(table.notes().size(), 1u);
}

}  // namespace
}  // namespace gpuprof
