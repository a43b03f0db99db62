// Files of NCCL Inspector: lines that describe themselves, lines that a marker describes, verbose times, losses.
#include <fmt/format.h>

#include "io/importers/formats.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

std::string header(std::string_view id, int rank, int ranks, int pid = 7) {
    return fmt::format(R"("header": {{"id": "{}", "rank": {}, "n_ranks": {}, "nnodes": 1}}, "metadata":
        {{"inspector_output_format_version": "v4.0", "hostname": "node", "pid": {}}})",
                       id, rank, ranks, pid);
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text + "\n";
}

constexpr std::string_view kPerf = R"("coll_perf": {"coll": "AllReduce", "coll_sn": 1407, "coll_algo": "RING",
    "coll_proto": "unknown", "coll_msg_size_bytes": 17179869184, "coll_exec_time_us": 61974,
    "coll_timing_source": "kernel_gpu", "coll_algobw_gbs": 277.2})";

std::string_view text(const Trace& trace, const Column<StringId>& column, Row row) {
    return trace.text(column.value_or(row, kNoString));
}

TEST(NcclInspector, ALineBecomesARow) {
    Trace trace = import_text(one_line(fmt::format("{{{}, {}}}", header("0x7f", 2, 8), kPerf)));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 1u);
    EXPECT_EQ(text(trace, rows.name, 0), "AllReduce");
    EXPECT_EQ(text(trace, rows.communicator, 0), "0x7f");
    EXPECT_EQ(text(trace, rows.timing_source, 0), "kernel_gpu");
    EXPECT_EQ(text(trace, rows.algorithm, 0), "RING");
    EXPECT_TRUE(rows.protocol.none_present());
    EXPECT_EQ(rows.seq[0], 1407);
    EXPECT_EQ(rows.bytes[0], 17179869184);
    EXPECT_EQ(rows.exec_time[0], 61'974'000);
    EXPECT_EQ(rows.group_size[0], 8);
    EXPECT_TRUE(rows.started_time.none_present() && rows.state.none_present());
    const ProcessTable& process = trace.tables().process;
    EXPECT_EQ(text(trace, process.key, 0), "node:7");
    EXPECT_EQ(process.rank[0], 2);
    EXPECT_EQ(process.world_size[0], 8);
}

TEST(NcclInspector, AMarkerDescribesTheLinesAfterIt) {
    std::string perf = fmt::format("{{{}}}", kPerf);
    Trace trace = import_text(
        one_line("{" + header("0xa", 1, 4) +
                 R"(, "dump_stats": {"coll_records": 2, "coll_dropped_since_last_dump": 5}})") +
        one_line(perf) + one_line(perf) +
        one_line("{" + header("0xb", 0, 2) + R"(, "dump_stats": {"coll_records": 1}})") +
        one_line(
            R"({"p2p_perf": {"p2p": "Recv", "p2p_sn": 3, "p2p_peer": 1, "p2p_msg_size_bytes": 8192, "p2p_exec_time_us": 9}})") +
        one_line(R"({"proxy_trace": {"record_type": "proxy_op"}})"));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 3u);
    EXPECT_EQ(text(trace, rows.communicator, 1), "0xa");
    EXPECT_EQ(text(trace, rows.communicator, 2), "0xb");
    EXPECT_EQ(rows.src_rank[2], 1);
    EXPECT_EQ(rows.dst_rank[2], 0);
    EXPECT_EQ(losses(trace, "recorder_loss"), 5);
    EXPECT_EQ(losses(trace, "unread_table"), 1);
    EXPECT_EQ(trace.tables().process.rank[0], 1);  // in the larger communicator
}

TEST(NcclInspector, VerboseFilesHaveTimes) {
    Trace trace = import_text(one_line("{" + header("0xa", 0, 2) + R"(, "coll_perf": {"coll": "ReduceScatter",
        "coll_sn": 1, "event_trace_ts": {"coll_start_ts": 1752867229235059, "coll_stop_ts": 1752867229235064,
        "kernel_events": [{"channel_id": 0, "kernel_start_ts": 1752867229235181, "kernel_stop_ts": 1752867229275811},
        {"channel_id": 1, "kernel_start_ts": 1752867229235170, "kernel_stop_ts": 0}]}}})"));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 1u);
    EXPECT_EQ(rows.created_time[0], 1752867229235059'000);
    EXPECT_EQ(rows.started_time[0], 1752867229235170'000);
    EXPECT_EQ(rows.ended_time[0], 1752867229275811'000);
}

TEST(NcclInspector, TwoCommunicatorsOfOneSizeDoNotNameTheRank) {
    Trace trace = import_text(one_line(fmt::format("{{{}, {}}}", header("0xa", 1, 4), kPerf)) +
                              one_line(fmt::format("{{{}, {}}}", header("0xb", 2, 4), kPerf)));
    EXPECT_TRUE(trace.tables().process.rank.none_present());
}

TEST(NcclInspector, DamagedLinesAreCounted) {
    std::string line = one_line(fmt::format("{{{}, {}}}", header("0xa", 0, 2), kPerf));
    Trace trace = import_text(line + "{\"coll_perf\": \n" + "7\n" + line.substr(0, line.size() / 2));
    EXPECT_EQ(trace.tables().collective.rows, 1u);
    EXPECT_EQ(losses(trace, "malformed_event"), 1);
    EXPECT_EQ(losses(trace, "unknown_event"), 1);
    EXPECT_EQ(losses(trace, "truncated"), 1);
}

}  // namespace
}  // namespace gpuprof::test
