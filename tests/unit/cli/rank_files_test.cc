#include "cli/ranks/rank_files.h"

#include <gtest/gtest.h>

#include "cli/ranks/reader_process.h"

namespace gpuprof {
namespace {

TEST(RankFiles, RanksInNames) {
    EXPECT_EQ(rank_in_name("rank00012.json.gz"), 12);
    EXPECT_EQ(rank_in_name("n17-r00012.gpuprof"), 12);
    EXPECT_EQ(rank_in_name("trace.rank-3.pt.trace.json"), 3);
    EXPECT_EQ(rank_in_name("host_RANK_7_1.json"), 7);
    EXPECT_EQ(rank_in_name("RANK_4.json"), 4);
    EXPECT_FALSE(rank_in_name("error3.json"));
    EXPECT_FALSE(rank_in_name("trace.json"));
    EXPECT_FALSE(rank_in_name("worker5.json"));
    EXPECT_FALSE(rank_in_name("r12ab.json"));
    EXPECT_FALSE(rank_in_name("rank99999999999.json"));
}

TEST(RankFiles, FilesOfStoragesAreTakenAsListed) {
    std::vector<JobInput> inputs{{"/no/such/rank1.json", false, 0, {}},
                                 {"s3://rank3/n2-trace_r7.json", true, 340, "a tag"}};
    Result<std::vector<ListedFile>> files = list_rank_files(inputs, {"", "(n[0-9])-"});
    ASSERT_TRUE(files.ok());
    ASSERT_EQ(files->size(), 2U);
    EXPECT_EQ((*files)[0].file.rank, 1);
    EXPECT_EQ((*files)[0].stamp, "");
    EXPECT_FALSE((*files)[0].input);
    EXPECT_EQ((*files)[1].file.path, "s3://rank3/n2-trace_r7.json");
    EXPECT_EQ((*files)[1].file.bytes, 340U);
    EXPECT_EQ((*files)[1].file.rank, 7);
    EXPECT_EQ((*files)[1].file.host, "n2");
    EXPECT_EQ((*files)[1].stamp, "a tag");
    EXPECT_EQ((*files)[1].input, 1U);
    EXPECT_EQ(list_rank_files(inputs, {"rank", ""}).error().code, ExitCode::usage);
}

TEST(RankFiles, WhatEndedAChildIsSaid) {
    EXPECT_TRUE(run_child("/bin/sh", {"-c", "exit 0"}, 60).ok);
    EXPECT_EQ(run_child("/bin/sh", {"-c", "echo one >&2; echo 'gpu-profile: two' >&2; exit 3"}, 60).problem, "two");
    EXPECT_EQ(run_child("/bin/sh", {"-c", "exit 4"}, 60).status, 4);
    EXPECT_NE(run_child("/bin/sh", {"-c", "kill -SEGV $$"}, 60).problem.find("ended by"), std::string::npos);
    EXPECT_NE(run_child("/bin/sh", {"-c", "exec sleep 30"}, 0.2).problem.find("longer than 0.2 s"), std::string::npos);
    EXPECT_NE(run_child("/no/such/program", {}, 10).problem.find("cannot start"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof
