// Samples and counters of instructions in spool files, including files that no recorder writes.
#include "collect/counters/spooled_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/format/bytes.h"
#include "core/format/chunk.h"
#include "core/format/counter_plan.h"
#include "tests/unit/format/byte_source.h"

namespace gpuprof::counters {
namespace {

void put(std::string& out, std::string_view text) {
    put_u32(out, static_cast<std::uint32_t>(text.size()));
    out.append(text);
}
std::string bytes_of(const auto& record) { return {reinterpret_cast<const char*>(&record), sizeof record}; }

// One chunk after the other.
class Spool {
public:
    Spool& add(ChunkKind kind, std::string_view payload) {
        (file_ += encode_header(kind, sequence_++, payload)).append(payload);
        return *this;
    }
    SpooledSamples read() const {
        SpooledSamples samples;
        test::Bytes input(file_);
        EXPECT_TRUE(read_samples(input, samples));
        return samples;
    }

private:
    std::string file_;
    std::uint32_t sequence_ = 0;
};

std::string process() {
    std::string facts;
    put(facts, "host"), put(facts, "node"), put(facts, "pid"), put(facts, "7"), put(facts, "rank"), put(facts, "3");
    return facts;
}
std::string reasons() {
    std::string out;
    put_u32(out, 4), put(out, "smsp__pcsamp_warps_issue_stalled_wait");
    put_u32(out, 9), put(out, "smsp__pcsamp_warps_issue_stalled_wait_not_issued");
    return out;
}
spool::StallRead read_of(std::uint64_t span, std::uint64_t samples, std::uint64_t dropped) {
    spool::StallRead about{};
    about.span = span, about.samples = samples, about.dropped = dropped, about.period = 14;
    return about;
}
std::string instruction(std::uint64_t cubin, std::uint64_t offset, std::uint32_t reason, std::uint32_t count) {
    std::string out;
    put_u64(out, cubin), put_u64(out, offset), put_u32(out, 0), put(out, "kernel"), put_u32(out, 1);
    put_u32(out, reason), put_u32(out, count);
    return out;
}

TEST(SpooledSamples, ReadsAddUp) {
    SpooledSamples samples =
        Spool()
            .add(ChunkKind::spool_process, process())
            .add(ChunkKind::spool_stall_reasons, reasons())
            .add(ChunkKind::spool_stall_read, bytes_of(read_of(1, 10, 2)) + instruction(5, 16, 4, 6))
            .add(ChunkKind::spool_stall_read, bytes_of(read_of(2, 8, 0)) + instruction(5, 16, 9, 1))
            .read();
    ASSERT_EQ(samples.processes.size(), 1u);
    EXPECT_EQ(samples.processes[0].key, "node:7");
    EXPECT_EQ(samples.processes[0].rank, 3);
    EXPECT_EQ(samples.processes[0].devices.at(0).samples, 18u);
    EXPECT_EQ(samples.processes[0].devices.at(0).dropped, 2u);
    ASSERT_EQ(samples.counts.size(), 1u);
    const auto& [at, counts] = *samples.counts.begin();
    EXPECT_EQ(at.function, "kernel");
    EXPECT_EQ(counts, (std::map<std::string, std::uint64_t>{{"wait", 6}, {"wait_not_issued", 1}}));
}

TEST(SpooledSamples, ReadsOfOneSpanAreNotCountedTwice) {
    SpooledSamples samples = Spool()
                                 .add(ChunkKind::spool_process, process())
                                 .add(ChunkKind::spool_stall_read, bytes_of(read_of(1, 10, 2)))
                                 .add(ChunkKind::spool_stall_read, bytes_of(read_of(1, 10, 2)))
                                 .read();
    EXPECT_EQ(samples.processes[0].devices.at(0).samples, 10u);
    EXPECT_EQ(samples.processes[0].devices.at(0).dropped, 2u);
}

TEST(SpooledSamples, AnUnknownReasonIsCalledSo) {
    SpooledSamples samples =
        Spool()
            .add(ChunkKind::spool_process, process())
            .add(ChunkKind::spool_stall_read, bytes_of(read_of(1, 1, 0)) + instruction(5, 16, 77, 1))
            .read();
    EXPECT_EQ(samples.counts.begin()->second.at("unknown"), 1u);
}

TEST(SpooledSamples, TruncatedRecordsAreCounted) {
    std::string whole = bytes_of(read_of(1, 1, 0)) + instruction(5, 16, 4, 1);
    for (std::size_t size = sizeof(spool::StallRead) + 1; size < whole.size(); ++size) {
        SpooledSamples samples = Spool()
                                     .add(ChunkKind::spool_process, process())
                                     .add(ChunkKind::spool_stall_read, std::string_view(whole).substr(0, size))
                                     .read();
        EXPECT_EQ(samples.damaged, 1u) << size;
        EXPECT_TRUE(samples.counts.empty()) << size;
    }
}

TEST(SpooledSamples, ADamagedCubinHasNoImage) {
    std::string image = "cubin";
    spool::CubinKey key{1, image_hash(image), image.size()};
    Spool spool;
    spool.add(ChunkKind::spool_process, process()).add(ChunkKind::spool_cubin, bytes_of(key) + "cubim");
    EXPECT_EQ(spool.read().cubins.at(0).image, "");
    spool.add(ChunkKind::spool_cubin, bytes_of(key) + image);
    ASSERT_EQ(spool.read().cubins.size(), 1u);
    EXPECT_EQ(spool.read().cubins.at(0).image, image);
}

TEST(SpooledSamples, CountersOfInstructionsAddUp) {
    std::string counts = bytes_of(spool::SassCounts{0, 2});
    put(counts, "executed"), put(counts, "inst"), put(counts, "sectors"), put(counts, "sector");
    for (std::uint64_t i = 0; i < 2; ++i) {
        put_u64(counts, 5), put_u64(counts, 16), put(counts, "kernel");
        put_u64(counts, 10), put_u64(counts, 0);
    }
    SpooledSamples samples =
        Spool().add(ChunkKind::spool_process, process()).add(ChunkKind::spool_sass_counts, counts).read();
    ASSERT_EQ(samples.counters.size(), 1u);
    EXPECT_EQ(samples.counters.begin()->second, (std::map<std::string, std::uint64_t>{{"executed", 20}}));
    EXPECT_EQ(samples.units.at("sectors"), "sector");
}

TEST(SpooledSamples, SumsThatNoColumnHoldsAreCounted) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max(), kAll = ~std::uint64_t{0};
    std::string counts = bytes_of(spool::SassCounts{0, 1});
    put(counts, "instructions"), put(counts, "");
    for (std::uint64_t value : {kAll, kMost - 1, std::uint64_t{1}, std::uint64_t{1}})
        put_u64(counts, 5), put_u64(counts, 16), put(counts, "kernel"), put_u64(counts, value);
    SpooledSamples samples = Spool()
                                 .add(ChunkKind::spool_process, process())
                                 .add(ChunkKind::spool_sass_counts, counts)
                                 .add(ChunkKind::spool_stall_read, bytes_of(read_of(1, kMost, 0)))
                                 .add(ChunkKind::spool_stall_read, bytes_of(read_of(2, kMost, kAll)))
                                 .read();
    ASSERT_EQ(samples.counters.size(), 1u);
    EXPECT_EQ(samples.counters.begin()->second.at("instructions"), kMost);
    EXPECT_EQ(samples.processes[0].devices.at(0).samples, kMost);
    EXPECT_EQ(samples.processes[0].devices.at(0).dropped, 0u);
    EXPECT_EQ(samples.damaged, 4u);
}

TEST(SpooledSamples, ReasonsLoseTheVendorsPrefix) {
    EXPECT_EQ(stall_reason("smsp__pcsamp_warps_issue_stalled_long_scoreboard"), "long_scoreboard");
    EXPECT_EQ(stall_reason("something else"), "something else");
}

}  // namespace
}  // namespace gpuprof::counters
