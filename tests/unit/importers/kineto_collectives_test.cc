// What Kineto's records of collectives become, and how the ranks of their groups are completed.
#include "core/base/text/rank_list.h"
#include "io/importers/formats.h"

#include <fmt/format.h>

#include "tests/unit/importers/read_text.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

// Rows of collectives and losses.
std::string rows_of(const std::string& events, std::string_view header = "") {
    std::string all = dump(import_text(object_trace(events, header)));
    std::string rows;
    for (std::size_t at = 0; at < all.size();) {
        std::size_t end = all.find('\n', at);
        std::string line = all.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("collective ") || line.starts_with("loss ")) rows += line + "\n";
    }
    return rows;
}

// A record on the host; `more` continues its arguments.
std::string record(std::string_view more, int id = 4) {
    return event("cpu_op", "record_param_comms",
                 fmt::format(R"("External id": {}, "Collective name": "allreduce"{})", id, more));
}

// A call and the kernel that it launched; Kineto copies part of the record's arguments to the kernel.
std::string launched(std::string_view more, int id = 4) {
    return event("cuda_runtime", "cudaLaunchKernelExC", R"("correlation": 15)") + "," +
           event("kernel", "ncclDevKernel",
                 fmt::format(
                     R"("External id": {}, "correlation": 15, "grid": [1, 1, 1], "Collective name": "allreduce"{})", id,
                     more),
                 "1", "2", "0", "7");
}

// The text of `ranks` of one record with these arguments, then of what was lost.
std::string ranks_of(std::string_view more, std::string_view header = "") {
    std::string rows = rows_of(record(more), header);
    std::size_t at = rows.find(" ranks="), loss = rows.find("loss ");
    std::string ranks = at == std::string::npos ? "-" : rows.substr(at + 7, rows.find_first_of(" \n", at + 7) - at - 7);
    return loss == std::string::npos ? ranks : ranks + " " + rows.substr(loss, rows.size() - 1 - loss);
}

std::string group_list(int ranks) {
    std::string list = "[0";
    for (int rank = 1; rank < ranks; ++rank) list += fmt::format(", {}", rank);
    return list + "]";
}

constexpr std::string_view kCut =
    R"(, "Process Group Name": "5", "Process Group Ranks": "[0, 8, 16, ..., 504]", "Group size": 64)";

TEST(KinetoCollectives, EveryKey) {
    std::string_view args =
        R"(, "dtype": "Float", "In msg nelems": 10, "Out msg nelems": 20, "In split size": "[4, 6]", "Out split size": "[]",
           "Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg",
           "Process Group Ranks": "[0, 1]", "Rank": 1, "Seq": 7, "Comms Id": 18446744073709551615, "Is asynchronized op": 1)";
    std::string described =
        "external_id=4 name=allreduce type=Float in_elements=10 out_elements=20 group_size=2 group=0 "
        "group_description=default_pg ranks=0,1 seq=7 instance=-1 in_splits=[4, 6] is_async=1\n";
    EXPECT_EQ(rows_of(record(args) + "," + launched(args)),
              "collective process=7 " + described + "collective process=7 correlation=15 " + described);
}

TEST(KinetoCollectives, PeersAndRoots) {
    auto peers = [](std::string_view name, std::string_view more) {
        return rows_of(event("cpu_op", "record_param_comms",
                             fmt::format(R"("Collective name": "{}", "Process Group Ranks": "[4, 6]"{})", name, more)));
    };
    EXPECT_EQ(peers("send", R"(, "Rank": 1, "Dst Rank": 6)"), "collective process=7 name=send ranks=4,6 dst_rank=6\n");
    EXPECT_EQ(peers("recv", R"(, "Rank": 0, "Src Rank": 4)"), "collective process=7 name=recv ranks=4,6 src_rank=4\n");
    EXPECT_EQ(peers("broadcast", R"(, "Rank": 1)"), "collective process=7 name=broadcast ranks=4,6 src_rank=6\n");
    EXPECT_EQ(peers("reduce", R"(, "Rank": 0)"), "collective process=7 name=reduce ranks=4,6 dst_rank=4\n");
    EXPECT_EQ(peers("allreduce", R"(, "Rank": 1)"), "collective process=7 name=allreduce ranks=4,6\n");
    for (const char* rank : {"2", "-1", "9223372036854775807"})
        EXPECT_EQ(peers("broadcast", fmt::format(R"(, "Rank": {})", rank)),
                  "collective process=7 name=broadcast ranks=4,6\n");
}

TEST(KinetoCollectives, RanksFromTheSpacing) {
    EXPECT_EQ(ranks_of(std::string(kCut) + R"(, "Global rank start": 0, "Global rank stride": 8)"), "0-504/8");
    EXPECT_EQ(ranks_of(R"(, "Group size": 4, "Global rank start": 2, "Global rank stride": 1)"), "2-5");
    EXPECT_EQ(
        ranks_of(R"(, "Group size": 4, "Process Group Ranks": "[]", "Global rank start": 0, "Global rank stride": 1)"),
        "-");
    EXPECT_EQ(ranks_of(R"(, "Group size": 2, "Process Group Ranks": "[1, 0]")"), "0,1");
}

TEST(KinetoCollectives, RanksFromTheListOfGroups) {
    std::string whole = R"({"pg_name": "5", "pg_size": 64, "ranks": [0)";
    for (int rank = 8; rank <= 504; rank += 8) whole += fmt::format(", {}", rank);
    whole += "]}";
    auto header = [](std::string_view groups) {
        return fmt::format(R"("distributedInfo": {{"pg_config": [{}]}})", groups);
    };
    EXPECT_EQ(ranks_of(kCut, header(whole)), "0-504/8");
    EXPECT_EQ(ranks_of(R"(, "Process Group Name": "5", "Group size": 64)", header(whole)), "0-504/8");
    std::string other = R"({"pg_name": "5", "pg_size": 2, "ranks": [0, 1]})";
    EXPECT_EQ(ranks_of(kCut, header(whole + "," + other)), "0-504/8");
    EXPECT_EQ(ranks_of(R"(, "Process Group Name": "5")", header(whole + "," + other)), "-");  // which of the two?
    std::string_view lost = "- loss kind=cut_ranks count=1 place=t: group '5'";
    EXPECT_EQ(ranks_of(kCut), lost);
    EXPECT_EQ(ranks_of(kCut, header(other)), lost);
    EXPECT_EQ(ranks_of(kCut, header(R"({"pg_name": "5", "pg_size": 64, "ranks": "[0, 8, 16, ..., 504]"})")), lost);
    for (const char* damaged : {"7", "null", R"({"pg_name": 5, "ranks": 7})", R"({"ranks": {}})", "[[[]]]"})
        EXPECT_EQ(ranks_of(kCut, header(damaged)), lost) << damaged;
}

TEST(KinetoCollectives, AGroupOfTenThousandRanks) {
    constexpr int kRanks = 10'000;
    std::string header = fmt::format(R"("distributedInfo": {{"rank": 3, "world_size": {0}, "pg_config": [
        {{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": {0}, "ranks": {1}}}]}})",
                                     kRanks, group_list(kRanks));
    EXPECT_EQ(ranks_of(R"(, "Process Group Name": "0", "Group size": 10000,
        "Process Group Ranks": "[0, 1, 2, ..., 9999]")",
                       header),
              "0-9999");
}

// Nothing is guessed: a list that contradicts the size of the group, or is not a list of ranks, is a loss.
TEST(KinetoCollectives, RanksThatContradict) {
    for (const char* list :
         {"[0, 1, 2]", "[0, 0]", "[0, -1]", "[0, 99999999999]", "[0, 1", "0, 1", "0-1", "[0, \\\"1\\\"]", "x"})
        EXPECT_EQ(
            ranks_of(fmt::format(R"(, "Process Group Name": "0", "Group size": 2, "Process Group Ranks": "{}")", list)),
            "- loss kind=cut_ranks count=1 place=t: group '0'")
            << list;
    for (const char* spacing :
         {R"("Global rank start": 1, "Global rank stride": 8)", R"("Global rank start": 0, "Global rank stride": 4)",
          R"("Global rank start": -1, "Global rank stride": 8)",
          R"("Global rank start": 0, "Global rank stride": 9223372036854775807)"})
        EXPECT_EQ(ranks_of(std::string(kCut) + ", " + spacing), "- loss kind=cut_ranks count=1 place=t: group '5'")
            << spacing;
    EXPECT_EQ(ranks_of(R"(, "Group size": 9000000000, "Global rank start": 0, "Global rank stride": 1)"), "-");
    std::string twice = record(kCut) + "," + record(kCut, 5);
    EXPECT_NE(rows_of(twice).find("cut_ranks count=1 "), std::string::npos);  // counted by group
}

TEST(KinetoCollectives, KernelsInheritWhatOnlyTheHostRecords) {
    std::string on_host =
        std::string(kCut) + R"(, "Global rank start": 0, "Global rank stride": 8, "Seq": 3, "Comms Id": 12,
        "Process Group Description": "dp", "Is asynchronized op": 0)";
    std::string_view inherited =
        "group_size=64 group=5 group_description=dp ranks=0-504/8 seq=3 instance=12 is_async=0\n";
    EXPECT_EQ(rows_of(record(on_host) + "," + launched(kCut)),
              fmt::format("collective process=7 external_id=4 name=allreduce {}"
                          "collective process=7 correlation=15 external_id=4 name=allreduce {}",
                          inherited, inherited));
    EXPECT_EQ(rows_of(record(on_host) + "," + launched("", 5)),
              fmt::format("collective process=7 external_id=4 name=allreduce {}"
                          "collective process=7 correlation=15 external_id=5 name=allreduce\n",
                          inherited));
}

TEST(KinetoCollectives, GlooExecutesOnTheHost) {
    EXPECT_EQ(rows_of(event("user_annotation", "gloo:all_reduce",
                            R"("External id": 9, "Input Dims": [[1024], [3, 2]], "Input type": ["float", "float"])")),
              "collective process=7 external_id=9 name=all_reduce type=Float in_elements=1030\n");
    EXPECT_EQ(rows_of(event("user_annotation", "gloo:barrier")), "collective process=7 name=barrier\n");
    EXPECT_EQ(rows_of(event("user_annotation", "nccl:all_reduce")), "");
    for (const char* shapes :
         {"[[99999999999999999999999999]]", "[[4611686018427387904, 16]]", "[[-1]]", "{}", "[1]", "7"})
        EXPECT_EQ(rows_of(event("user_annotation", "gloo:send", fmt::format(R"("Input Dims": {})", shapes))),
                  "collective process=7 name=send\n")
            << shapes;
}

// Two processes of torchrun on one machine.
TEST(KinetoCollectives, AJobOfTwoProcessesWithGloo) {
    for (int rank : {0, 1}) {
        Result<Trace> trace =
            open_file(fmt::format("{}/tests/fixtures/ranks/gloo-rank{}.json.gz", source_folder(), rank));
        ASSERT_TRUE(trace.ok());
        const ProcessTable& process = trace->tables().process;
        ASSERT_EQ(process.rows, 1u);
        EXPECT_EQ(process.rank[0], rank);
        EXPECT_EQ(process.world_size[0], 2);
        EXPECT_EQ(trace->text(process.host[0]), "vm");
        EXPECT_EQ(trace->tables().collective.rows, 24u);
    }
}

}  // namespace
}  // namespace gpuprof::test
