// Records of CUPTI as a collector left them: odd ones, which a hostile file or a newer CUPTI may have.
#include "io/importers/spool/spool_import.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace gpuprof {
namespace {

using cupti::Kind;

constexpr std::uint32_t kLength = 208;

class Buffer {
public:
    explicit Buffer(std::initializer_list<Kind> kinds) {
        put(static_cast<std::uint32_t>(kinds.size()));
        for (Kind kind : kinds) put(static_cast<std::uint32_t>(kind)), put(kLength);
    }
    Buffer& record(Kind kind) {
        put(static_cast<std::uint32_t>(kind));
        bytes_.append(kLength - sizeof(std::uint32_t), '\0');
        return *this;
    }
    // A field of the last record.
    template <class T>
    Buffer& with(cupti::Field<T> field, T value) {
        std::memcpy(bytes_.data() + bytes_.size() - kLength + field.offset, &value, sizeof value);
        return *this;
    }
    Batch decoded() const {
        Batch batch;
        SpoolDecoder decoder(batch, "file");
        RawChunk chunk;
        chunk.header.kind = static_cast<std::uint32_t>(ChunkKind::spool_activity);
        chunk.payload.resize(bytes_.size());
        std::memcpy(chunk.payload.data(), bytes_.data(), bytes_.size());
        decoder.take(chunk);
        decoder.finish();
        return batch;
    }

private:
    void put(std::uint32_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
    std::string bytes_;
};

Buffer& timed_copy(Buffer& buffer, std::uint32_t correlation, std::uint8_t kind) {
    namespace c = cupti::memcpy;
    return buffer.record(Kind::memcpy)
        .with(c::start, std::uint64_t{100})
        .with(c::end, std::uint64_t{200})
        .with(c::correlation, correlation)
        .with(c::copy_kind, kind);
}

TEST(Spool, ACopyOfUnknownKindBehindKnownOnesHasNone) {
    namespace a = cupti::api;
    Buffer buffer{Kind::memcpy, Kind::runtime};
    buffer.record(Kind::runtime)
        .with(a::start, std::uint64_t{10})
        .with(a::end, std::uint64_t{20})
        .with(a::correlation, 5U);
    timed_copy(buffer, 1, 1);
    timed_copy(buffer, 5, 200);
    Batch batch = buffer.decoded();
    ASSERT_EQ(batch.tables.memcpy.rows, 2u);
    EXPECT_EQ(batch.tables.memcpy.kind.size(), 2u);
    EXPECT_TRUE(batch.tables.memcpy.kind.has(0));
    EXPECT_FALSE(batch.tables.memcpy.kind.has(1));
}

TEST(Spool, TimesBeyondAllClocksAreNone) {
    namespace k = cupti::kernel;
    constexpr std::uint64_t kBeyond = std::uint64_t{1} << 63U;
    Buffer buffer{Kind::concurrent_kernel};
    buffer.record(Kind::concurrent_kernel).with(k::start, kBeyond).with(k::end, std::uint64_t{200});
    buffer.record(Kind::concurrent_kernel).with(k::start, std::uint64_t{100}).with(k::end, kBeyond);
    Batch batch = buffer.decoded();
    EXPECT_EQ(batch.tables.kernel.rows, 0u);
    EXPECT_EQ(batch.losses[static_cast<std::size_t>(Loss::untimed_op)].count, 1u);
    EXPECT_EQ(batch.losses[static_cast<std::size_t>(Loss::unfinished_op)].count, 1u);
}

TEST(Spool, WorkWithoutACallHasNoOperator) {
    namespace k = cupti::kernel;
    namespace e = cupti::external_correlation;
    for (bool first : {true, false}) {  // of the table, or behind work that has one
        Buffer buffer{Kind::concurrent_kernel, Kind::external_correlation};
        auto kernel = [&](std::uint32_t correlation, std::uint32_t graph) {
            buffer.record(Kind::concurrent_kernel)
                .with(k::start, std::uint64_t{100})
                .with(k::end, std::uint64_t{200})
                .with(k::correlation, correlation)
                .with(k::graph, graph);
        };
        if (!first) kernel(5, 0);
        kernel(0, 7);  // of a graph that the device launched
        for (std::uint32_t correlation : {0U, 5U})
            buffer.record(Kind::external_correlation).with(e::correlation, correlation).with(e::id, std::uint64_t{42});
        const Batch batch = buffer.decoded();
        const KernelTable& kernels = batch.tables.kernel;
        Row last = first ? 0 : 1;
        ASSERT_EQ(kernels.rows, last + 1);
        EXPECT_FALSE(kernels.external_id.has(last));
        if (!first) {
            EXPECT_EQ(kernels.external_id.get(0), 42);
        }
    }
}

TEST(Spool, KernelsHaveLocalMemoryAndClusters) {
    namespace k = cupti::kernel;
    Buffer buffer{Kind::concurrent_kernel};
    for (std::uint32_t cluster : {0U, 2U})
        buffer.record(Kind::concurrent_kernel)
            .with(k::start, std::uint64_t{100})
            .with(k::end, std::uint64_t{200})
            .with(k::local_per_thread, 48U)
            .with(k::cluster_x, cluster)
            .with(k::cluster_y, cluster / 2)
            .with(k::cluster_z, cluster / 2);
    Batch batch = buffer.decoded();
    const KernelTable& kernels = batch.tables.kernel;
    ASSERT_EQ(kernels.rows, 2u);
    EXPECT_EQ(kernels.local_bytes[0], 48);
    EXPECT_FALSE(kernels.cluster_x.has(0));
    EXPECT_EQ(kernels.cluster_x[1], 2);
    EXPECT_EQ(kernels.cluster_z[1], 1);
}

TEST(Spool, AnAllocationHasTheThreadOfItsCall) {
    namespace m = cupti::memory2;
    namespace a = cupti::api;
    Buffer buffer{Kind::memory2, Kind::runtime};
    buffer.record(Kind::runtime)
        .with(a::start, std::uint64_t{10})
        .with(a::end, std::uint64_t{20})
        .with(a::thread, 12U)
        .with(a::correlation, 7U);
    buffer.record(Kind::memory2)
        .with(m::time, std::uint64_t{15})
        .with(m::operation, 1U)
        .with(m::memory_kind, 5U)
        .with(m::bytes, std::uint64_t{64})
        .with(m::correlation, 7U);
    Batch batch = buffer.decoded();
    const MemoryEventTable& events = batch.tables.memory_event;
    ASSERT_EQ(events.rows, 1u);
    ASSERT_EQ(batch.tables.api_call.rows, 1u);
    ASSERT_TRUE(events.thread.has(0));
    EXPECT_EQ(events.thread[0], batch.tables.api_call.thread[0]);
    EXPECT_EQ(batch.strings[events.category[0]], "managed");
}

TEST(Spool, AReleaseOfAnySizeIsANumber) {
    namespace m = cupti::memory2;
    Buffer buffer{Kind::memory2};
    buffer.record(Kind::memory2)
        .with(m::operation, 2U)
        .with(m::memory_kind, 3U)
        .with(m::bytes, std::uint64_t{1} << 63U);
    Batch batch = buffer.decoded();
    ASSERT_EQ(batch.tables.memory_event.rows, 1u);
    EXPECT_EQ(batch.tables.memory_event.bytes[0], std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace gpuprof
