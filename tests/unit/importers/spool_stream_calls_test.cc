// Calls about streams as rows of `sync`: what the fake CUPTI of the Python tests does not play.
#include "io/importers/spool/spool_stream_calls.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "io/importers/spool/spool_import.h"

namespace gpuprof {
namespace {

using spool::StreamCall;
using spool::StreamCallKind;

StreamCall call(StreamCallKind kind, std::uint64_t time, std::uint32_t stream, std::uint64_t event,
                std::uint32_t correlation) {
    StreamCall made{};
    made.bytes = sizeof made;
    made.op = spool::HostEventOp::stream_call;
    made.kind = kind;
    made.time = time, made.end = time + 5;
    made.event = event;
    made.stream = stream;
    made.context = 1;
    made.correlation = correlation;
    return made;
}
StreamCall record(std::uint64_t time, std::uint32_t stream, std::uint64_t event, std::uint32_t correlation) {
    return call(StreamCallKind::record_event, time, stream, event, correlation);
}
StreamCall wait(std::uint64_t time, std::uint32_t stream, std::uint64_t event, std::uint32_t correlation) {
    return call(StreamCallKind::wait_event, time, stream, event, correlation);
}

Batch rows_of(std::initializer_list<StreamCall> calls, Batch batch = {}) {
    SpoolStreamCalls decoder;
    for (const StreamCall& each : calls) decoder.add(each);
    decoder.finish(batch, 0, kNoString, [](std::uint32_t) { return std::nullopt; });
    return batch;
}

TEST(SpoolStreamCalls, AWaitIsForTheLastRecordOfItsEventInTime) {
    // as rings deliver them: one thread's calls after those of another
    Batch batch = rows_of({wait(20, 7, 0xe1, 3), wait(40, 7, 0xe1, 5), record(10, 13, 0xe1, 1), record(15, 14, 0xe2, 2),
                           record(30, 15, 0xe1, 4)});
    const SyncTable& sync = batch.tables.sync;
    ASSERT_EQ(sync.rows, 2u);
    EXPECT_EQ(sync.wait_on_stream[0], 13);
    EXPECT_EQ(sync.wait_on_correlation[0], 1);
    EXPECT_EQ(sync.wait_on_stream[1], 15);
    EXPECT_EQ(sync.wait_on_correlation[1], 4);
}

TEST(SpoolStreamCalls, AnEventThatWasNotRecordedIsAbsent) {
    Batch batch = rows_of({wait(20, 7, 0xe1, 3)});
    ASSERT_EQ(batch.tables.sync.rows, 1u);
    EXPECT_EQ(batch.tables.sync.stream[0], 7);
    EXPECT_FALSE(batch.tables.sync.wait_on_stream.has(0));
}

TEST(SpoolStreamCalls, ARecordOfCuptiAboutTheSameCallIsCompleted) {
    Batch batch;
    Row row = batch.tables.sync.add();
    batch.tables.sync.start.set(row, 1000);
    batch.tables.sync.correlation.set(row, 3);
    batch = rows_of({record(10, 13, 0xe1, 1), wait(20, 7, 0xe1, 3)}, std::move(batch));
    ASSERT_EQ(batch.tables.sync.rows, 1u);
    EXPECT_EQ(batch.tables.sync.start[0], 1000);
    EXPECT_EQ(batch.tables.sync.wait_on_stream[0], 13);
}

TEST(SpoolStreamCalls, AStreamLeavesItsCaptureWhenTheCaptureEnds) {
    auto begin = call(StreamCallKind::begin_capture, 1, 13, 0, 1),
         end = call(StreamCallKind::end_capture, 50, 13, 0, 2);
    Batch batch = rows_of({begin, record(10, 13, 0xe1, 3), wait(20, 7, 0xe1, 4), record(30, 7, 0xe2, 5),
                           wait(40, 13, 0xe2, 6), end, record(60, 7, 0xe2, 7), wait(70, 13, 0xe2, 8)});
    ASSERT_EQ(batch.tables.sync.rows, 1u);
    EXPECT_EQ(batch.tables.sync.correlation[0], 8);
    EXPECT_EQ(batch.tables.sync.wait_on_correlation[0], 7);
}

TEST(SpoolStreamCalls, ADamagedCallIsCountedAndTheOthersAreRead) {
    std::string payload(4, '\1');
    auto append = [&](const StreamCall& each) { payload.append(reinterpret_cast<const char*>(&each), sizeof each); };
    StreamCall backwards = wait(20, 7, 0xe1, 2);
    backwards.end = 3;
    append(record(10, 13, 0xe1, 1)), append(backwards), append(wait(30, 7, 0xe1, 3));
    Batch batch;
    SpoolDecoder decoder(batch, "file");
    RawChunk chunk;
    chunk.header.kind = static_cast<std::uint32_t>(ChunkKind::spool_nvtx);
    chunk.payload.resize(payload.size());
    std::memcpy(chunk.payload.data(), payload.data(), payload.size());
    decoder.take(chunk);
    decoder.finish();
    ASSERT_EQ(batch.tables.sync.rows, 1u);
    EXPECT_EQ(batch.tables.sync.wait_on_stream[0], 13);
    EXPECT_EQ(batch.losses[static_cast<std::size_t>(Loss::damaged_chunk)].count, 1);
}

}  // namespace
}  // namespace gpuprof
