// Dumps of PyTorch's flight recorder: every version's fields, batches, lost entries, and dumps made to harm.
#include <fmt/format.h>

#include "io/importers/formats.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

std::string dump_with(std::string_view entries, std::string_view groups = R"("0": {"name": "0", "desc": "default_pg",
    "ranks": "[0, 1, 2, 3]"}, "7": {"name": "7", "desc": "pp", "ranks": "[2, 5, 9]"})") {
    return fmt::format(R"({{"version": "2.10", "pg_config": {{{}}}, "entries": [{}]}})", groups, entries);
}

std::string entry(std::string_view name, std::string_view more = "",
                  std::string_view group = R"(["0", "default_pg"])") {
    return fmt::format(R"({{"profiling_name": "{}", "process_group": {}, "state": "scheduled"{}{}}})", name, group,
                       more.empty() ? "" : ", ", more);
}

std::string_view text(const Trace& trace, const Column<StringId>& column, Row row) {
    return trace.text(column.value_or(row, kNoString));
}

Trace import_named(std::string name, std::string_view bytes) {
    auto source = memory_source(std::move(name), bytes);
    Result<Trace> trace = import_trace(**source);
    if (trace.ok()) return std::move(trace).value();
    ADD_FAILURE() << trace.error().message;
    return TraceBuilder(Origin{}).finish();
}

TEST(FlightRecorder, AnEntryBecomesARow) {
    Trace trace = import_text(dump_with(entry("nccl:all_reduce", R"("record_id": 4, "collective_seq_id": 57,
        "p2p_seq_id": 3, "input_sizes": [[8, 4], [2]], "output_sizes": [[32], [2]], "input_dtypes": ["Float", "Float"],
        "time_created_ns": 1795446042741798759, "time_discovered_started_ns": 0, "duration_ms": 1.5, "timeout_ms": 600000,
        "is_p2p": false)")));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 1u);
    EXPECT_EQ(text(trace, rows.name, 0), "all_reduce");
    EXPECT_EQ(text(trace, rows.type, 0), "Float");
    EXPECT_EQ(text(trace, rows.state, 0), "scheduled");
    EXPECT_EQ(text(trace, rows.group_description, 0), "default_pg");
    EXPECT_EQ(text(trace, rows.ranks, 0), "0-3");
    EXPECT_EQ(rows.group_size[0], 4);
    EXPECT_EQ(rows.seq[0], 57);
    EXPECT_EQ(rows.in_elements[0], 34);
    EXPECT_EQ(rows.out_elements[0], 34);
    EXPECT_EQ(rows.created_time[0], 1795446042741798759);
    EXPECT_FALSE(rows.started_time.get(0).has_value() && rows.started_time.size() > 0);
    EXPECT_EQ(rows.exec_time[0], 1'500'000);
    EXPECT_EQ(rows.timeout[0], 600'000'000'000);
    EXPECT_EQ(losses(trace, "recorder_loss"), 4);
    EXPECT_EQ(trace.tables().process.world_size[0], 4);
}

TEST(FlightRecorder, EndsOfTransfersAreRanksOfTheJob) {
    Trace trace =
        import_text(dump_with(entry("nccl:send 1->2", R"("p2p_seq_id": 3, "collective_seq_id": 9)", R"(["7", "pp"])") +
                              "," + entry("nccl:recv 0<-2", R"("p2p_seq_id": 4)", R"(["7", "pp"])") + "," +
                              entry("nccl:send 1->3", R"("p2p_seq_id": 5)", R"(["7", "pp"])")));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 3u);
    EXPECT_EQ(rows.seq[0], 3);
    EXPECT_EQ(rows.src_rank[0], 5);
    EXPECT_EQ(rows.dst_rank[0], 9);
    EXPECT_EQ(rows.src_rank[1], 9);
    EXPECT_EQ(rows.dst_rank[1], 2);
    EXPECT_FALSE(rows.src_rank.has(2));  // the group has no rank 3
}

TEST(FlightRecorder, PartsOfABatchHaveTheStateOfItsEnd) {
    std::string end = R"({"profiling_name": "nccl:coalesced", "process_group": ["7", "pp"], "state": "completed", )";
    Trace trace = import_text(dump_with(entry("nccl:send 0->1", R"("p2p_seq_id": 1)", R"(["7", "pp"])") + "," +
                                        entry("nccl:send 0->1", R"("p2p_seq_id": 2)", R"(["7", "pp"])") + "," +
                                        entry("nccl:recv 0<-1", R"("p2p_seq_id": 2)", R"(["7", "pp"])") + "," + end +
                                        R"("p2p_seq_id": 2, "is_p2p": true},)" +
                                        entry("nccl:_broadcast_oop", R"("collective_seq_id": 8)", R"(["7", "pp"])") +
                                        "," + end + R"("collective_seq_id": 8, "p2p_seq_id": 2})"));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 5u);  // the end of the batch of transfers is none itself
    std::string_view states[] = {"scheduled", "completed", "completed", "completed", "completed"};
    for (Row row = 0; row < rows.rows; ++row) EXPECT_EQ(text(trace, rows.state, row), states[row]) << row;
    EXPECT_EQ(text(trace, rows.name, 4), "coalesced");
}

TEST(FlightRecorder, GloosEntriesAreCompleteWhenTheyAreRetired) {
    Trace trace = import_text(dump_with(entry("gloo:all_reduce", R"("retired": true, "collective_seq_id": 1)") + "," +
                                        entry("gloo:broadcast", R"("retired": false, "collective_seq_id": 2)") + "," +
                                        entry("nccl:all_reduce", R"("retired": true, "collective_seq_id": 3)")));
    const CollectiveTable& rows = trace.tables().collective;
    EXPECT_EQ(text(trace, rows.state, 0), "completed");
    EXPECT_EQ(text(trace, rows.state, 1), "called");
    EXPECT_EQ(text(trace, rows.state, 2), "scheduled");  // given up by the watchdog
}

TEST(FlightRecorder, OldVersionsHaveOneNumber) {
    Trace trace = import_text(R"({"version": "1.5", "pg_config": {}, "entries": [{"profiling_name": "nccl:all_reduce",
        "seq_id": 12, "pg_id": 0, "process_group": "0", "state": "started", "input_sizes": "broken"}]})");
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 1u);
    EXPECT_EQ(rows.seq[0], 12);
    EXPECT_EQ(text(trace, rows.group, 0), "0");
    EXPECT_TRUE(rows.in_elements.none_present());
}

TEST(FlightRecorder, TheRankIsInTheName) {
    std::string dump = dump_with(entry("nccl:all_reduce"));
    for (auto [name, rank] : {std::pair("nccl_trace_rank_12", 12), {"/a_rank_9/comm_lib_trace_rank_3.json", 3}})
        EXPECT_EQ(import_named(name, dump).tables().process.rank.get(0), rank) << name;
    for (auto* name : {"dump", "nccl_trace_rank_", "x_rank_7b", "x_rank_99999999999"})
        EXPECT_TRUE(import_named(name, dump).tables().process.rank.none_present()) << name;
}

TEST(FlightRecorder, ImpossibleSizesAndTimesAreAbsent) {
    Trace trace = import_text(dump_with(entry("nccl:all_reduce", R"("input_sizes": [[4611686018427387904, 8]],
        "output_sizes": [[-1]], "time_created_ns": -5, "duration_ms": 1e300, "timeout_ms": "soon")")));
    const CollectiveTable& rows = trace.tables().collective;
    ASSERT_EQ(rows.rows, 1u);
    EXPECT_TRUE(rows.in_elements.none_present() && rows.out_elements.none_present());
    EXPECT_TRUE(rows.created_time.none_present() && rows.exec_time.none_present() && rows.timeout.none_present());
}

TEST(FlightRecorder, EntriesThatAreNoneAreCounted) {
    std::string many;
    for (int i = 0; i < 300; ++i) many += fmt::format(R"("k{}": 0, )", i);
    Trace trace = import_text(
        dump_with(R"(7, [], {}, {)" + many + R"("profiling_name": "nccl:all_reduce"},)" + entry("nccl:all_reduce")));
    EXPECT_EQ(trace.tables().collective.rows, 1u);
    EXPECT_EQ(losses(trace, "missing_field"), 4);
}

TEST(FlightRecorder, APickleThatCallsCodeIsRejected) {
    // version and entries as PyTorch writes them, then os.system("x").
    using namespace std::string_literals;
    std::string head = "\x80\x02}q\x00(X\x09\x00\x00\x00pg_configq\x01}q\x02X\x07\x00\x00\x00versionq\x03"s;
    Error error = import_error(head + "cos\nsystem\n(X\x01\x00\x00\x00xtR.");
    EXPECT_EQ(error.code, ExitCode::unreadable);
    EXPECT_NE(error.message.find("would run or name code (GLOBAL at byte"), std::string::npos) << error.message;
}

// Of a pickle: a text, and the beginning of a dump up to its entries.
std::string pickled(std::string_view text) {
    return fmt::format("X{}{}{}{}{}", static_cast<char>(text.size()), '\0', '\0', '\0', text);
}
std::string pickled_head() { return "\x80\x02}(" + pickled("pg_config") + "}" + pickled("version") + "N"; }

TEST(FlightRecorder, SharedValuesCostNoMoreThanTheFile) {
    // A list of 2,000 sizes of 1, and 1,000 entries that share it; the last entry is there 500 times.
    std::string sizes = "](](K\x01" + std::string("eq\x05");
    for (int i = 0; i < 2'000; ++i) sizes += "h\x05";
    std::string entry = "}(" + pickled("profiling_name") + pickled("nccl:barrier") + pickled("input_sizes") + "h\x06u";
    std::string dump = pickled_head() + pickled("sizes") + sizes + "eq\x06" + pickled("entries") + "](";
    for (int i = 0; i < 1'000; ++i) dump += entry;
    dump += "q\x07";
    for (int i = 0; i < 499; ++i) dump += "h\x07";
    Trace trace = import_text(dump + "eu.");
    const CollectiveTable& rows = trace.tables().collective;
    EXPECT_EQ(rows.rows, 1'000u);
    EXPECT_EQ(losses(trace, "malformed_event"), 499);
    EXPECT_EQ(rows.in_elements.get(0), 2'001);
    EXPECT_FALSE(rows.in_elements.has(999));
}

TEST(FlightRecorder, ATruncatedDumpKeepsWholeEntries) {
    std::string whole = fixture("flight/nccl_trace_rank_1");
    std::size_t most = 0;
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        Result<Trace> trace = import_trace(**memory_source("t", std::string_view(whole).substr(0, size)));
        if (!trace.ok()) continue;
        EXPECT_EQ(losses(*trace, "truncated"), 1) << size;
        EXPECT_GE(trace->tables().collective.rows, most) << size;
        most = trace->tables().collective.rows;
    }
    EXPECT_EQ(import_text(whole).tables().collective.rows, 14u);
    EXPECT_GE(most, 13u);
}

TEST(FlightRecorder, StacksAreOutermostFirst) {
    Trace trace = import_text(fixture("flight/nccl_trace_rank_1"));
    std::string_view stack = text(trace, trace.tables().collective.stack, 0);
    EXPECT_TRUE(stack.starts_with("<module> (/opt/job/train.py:33);train (/opt/job/train.py:21);wrapper (")) << stack;
}

TEST(FlightRecorder, OtherPicklesAndDocumentsAreNotTaken) {
    EXPECT_EQ(sniff_flight_recorder("\x80\x02}q\x01(X\x08\x00\x00\x00segments"), 0);
    EXPECT_EQ(sniff_flight_recorder(R"({"traceEvents": []})"), 0);
    EXPECT_EQ(sniff_flight_recorder(""), 0);
    EXPECT_GT(sniff_flight_recorder(R"({"entries":[{"collective_seq_id":1,"profiling_name":"x"}]})"), 80);
}

}  // namespace
}  // namespace gpuprof::test
