#include "cli/ranks/rank_files.h"

#include <gtest/gtest.h>

#include "cli/ranks/child.h"

namespace gpuprof {
namespace {

TEST(RankFiles, RanksInNames) {
    EXPECT_EQ(rank_in_name("rank00012.json.gz"), 12);
    EXPECT_EQ(rank_in_name("n17-r00012.gpuprof"), 12);
    EXPECT_EQ(rank_in_name("trace.rank-3.pt.trace.json"), 3);
    EXPECT_EQ(rank_in_name("host_RANK_7_1.json"), 7);
    EXPECT_FALSE(rank_in_name("trace.json"));
    EXPECT_FALSE(rank_in_name("worker5.json"));
    EXPECT_FALSE(rank_in_name("r12ab.json"));
    EXPECT_FALSE(rank_in_name("rank99999999999.json"));
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
