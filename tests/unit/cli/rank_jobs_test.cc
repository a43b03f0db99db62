#include <gtest/gtest.h>

#include <algorithm>

#include <csignal>

#include "cli/ranks/job_conditions.h"
#include "cli/ranks/job_progress.h"
#include "cli/ranks/python_engine.h"
#include "cli/ranks/second_try.h"
#include "cli/ranks/several_jobs.h"
#include "core/base/text/rank_list.h"

namespace gpuprof {
namespace {

// A file of one rank that recorded for two seconds; all ranks of `groups` are in one group each.
JobFile file_of(std::int32_t rank, std::int64_t world, TimeNs from, std::vector<RankList> groups) {
    JobFile file;
    file.path = "rank" + std::to_string(rank);
    file.ranks = {rank};
    file.world = world;
    file.from = from;
    file.to = from + 2 * kSecond;
    for (const RankList& group : groups) {
        file.groups.insert(static_cast<std::int64_t>(hash_ranks(group) >> 1));
        file.group_ranks.insert(file.group_ranks.end(), group.begin(), group.end());
    }
    std::sort(file.group_ranks.begin(), file.group_ranks.end());
    return file;
}

TEST(SeveralJobs, OneJobStaysOne) {
    std::vector<JobFile> files;
    for (std::int32_t rank = 0; rank < 4; ++rank) files.push_back(file_of(rank, 4, rank * kSecond, {{0, 1, 2, 3}}));
    EXPECT_EQ(split_jobs(files), (std::vector<JobFiles>{{0, 1, 2, 3}}));
    EXPECT_TRUE(split_jobs({}).empty());
}

TEST(SeveralJobs, IslandsOfOneJobStayTogether) {
    std::vector<JobFile> files{file_of(0, 4, 0, {{0, 1}}), file_of(1, 4, 0, {{0, 1}}), file_of(2, 4, 0, {{2, 3}}),
                               file_of(3, 4, 0, {{2, 3}})};
    EXPECT_EQ(split_jobs(files).size(), 1U);
}

TEST(SeveralJobs, ByTheNumberOfRanks) {
    std::vector<JobFile> files{file_of(0, 4, kSecond, {}), file_of(1, 8, 0, {}), file_of(2, 4, 0, {}),
                               file_of(3, 0, 0, {})};  // the last one does not say
    EXPECT_EQ(split_jobs(files), (std::vector<JobFiles>{{0, 2, 3}, {1}}));
}

// Ranks 0 and 1 of a job with groups of neighbours, 2 and 3 of one with groups across.
TEST(SeveralJobs, ByGroupsThatContradictEachOther) {
    std::vector<JobFile> files{file_of(0, 4, 0, {{0, 1, 2}}), file_of(1, 4, 0, {{0, 1, 2}}),
                               file_of(2, 4, 0, {{0, 2, 3}}), file_of(3, 4, 0, {{0, 2, 3}})};
    EXPECT_EQ(split_jobs(files), (std::vector<JobFiles>{{0, 1}, {2, 3}}));
    std::vector<JobFile> cut = files;
    cut[2].whole = cut[3].whole = false;
    EXPECT_EQ(split_jobs(cut).size(), 1U);
    files[2].groups.insert(*files[0].groups.begin());  // one knows both: the same job
    EXPECT_EQ(split_jobs(files).size(), 1U);
}

TEST(SeveralJobs, RestartsWhereNothingWasRecordedForLongest) {
    std::vector<JobFile> files;
    for (TimeNs start : {TimeNs{0}, 20 * kSecond})
        for (std::int32_t rank = 0; rank < 3; ++rank)
            files.push_back(file_of(rank, 3, start + rank * 3 * kSecond, {{0, 1, 2}}));  // clocks that are 3 s apart
    EXPECT_EQ(split_jobs(files), (std::vector<JobFiles>{{0, 1, 2}, {3, 4, 5}}));
    files.pop_back();
    files.erase(files.begin());  // no rank is in both attempts now, except rank 1
    EXPECT_EQ(split_jobs(files).size(), 2U);
    EXPECT_EQ(split_jobs({files[0], files[3]}).size(), 2U);  // both of rank 1
    EXPECT_EQ(split_jobs({files[0], files[2]}).size(), 1U);  // ranks 1 and 0, not long apart
    JobFile later = files[2];
    later.from += 700 * kSecond, later.to += 700 * kSecond;
    EXPECT_EQ(split_jobs({files[0], later}).size(), 2U);
}

TEST(SeveralJobs, AreDescribed) {
    std::vector<JobFile> files{file_of(0, 4, 1'790'000'000 * kSecond, {}), file_of(1, 4, 1'790'000'001 * kSecond, {}),
                               file_of(3, 4, 1'790'000'002 * kSecond, {})};
    EXPECT_EQ(describe_job(files, {0, 1, 2}, 2),
              "job 2 has 3 files: ranks 0,1,3 of 4, recorded from 2026-09-21 14:13:20 UTC, rank0 to rank3");
}

TEST(JobProgress, SaysHowFar) {
    JobProgress progress;
    EXPECT_EQ(progress.line(kSecond), "listing files");
    progress.files = 1'024;
    progress.bytes = 102'000'000'000;
    EXPECT_EQ(progress.line(kSecond), "0 of 1,024 files, 0.0 of 102.0 GB");
    progress.count(2'000'000'000, true, false);
    progress.count(4'000'000'000, false, false);
    progress.count(6'000'000'000, false, true);
    EXPECT_EQ(progress.line(10 * kSecond), "3 of 1,024 files, 12.0 of 102.0 GB, 1.00 GB/s, 1 rank lost, 90 s left");
}

TEST(JobProgress, SmallAndUnknownSizes) {
    JobProgress progress;
    progress.files = 2;
    progress.count(0, false, false);
    EXPECT_EQ(progress.line(kSecond), "1 of 2 files");
    progress.bytes = 3'000'000;
    progress.count(3'000'000, false, false);
    EXPECT_EQ(progress.line(kSecond), "2 of 2 files, 3.0 of 3.0 MB, 0.00 GB/s");
}

struct Tries {
    std::vector<ChildEnd> ends;
    std::vector<std::uint64_t> limits{};
    ChildEnd operator()(std::uint64_t memory) {
        limits.push_back(memory);
        return ends[limits.size() - 1];
    }
};

const ChildEnd kRead{true, 0, 0, {}};
const ChildEnd kNoMemory{false, 6, 0, "out of memory"};
const ChildEnd kKilled{false, -1, SIGKILL, "killed"};
const ChildEnd kDamaged{false, 3, 0, "cannot read it"};

TEST(SecondTry, HasTwiceTheMemory) {
    Tries tries{{kNoMemory, kRead}};
    EXPECT_TRUE(run_twice(std::ref(tries), 100 << 20, [] { return std::uint64_t{1} << 40; }).ok);
    EXPECT_EQ(tries.limits, (std::vector<std::uint64_t>{100 << 20, 200 << 20}));
}

TEST(SecondTry, SaysWhatWasNotEnough) {
    Tries twice{{kNoMemory, kNoMemory}}, once{{kNoMemory}}, killed{{kKilled, kKilled}}, damaged{{kDamaged}};
    auto free = [] { return std::uint64_t{256} << 20; };
    EXPECT_EQ(run_twice(std::ref(twice), 100 << 20, free).problem,
              "out of memory with --memory 100 MiB, and with 200 MiB");
    EXPECT_EQ(run_twice(std::ref(once), 200 << 20, free).problem,
              "out of memory with --memory 200 MiB; 400 MiB for a second try are not free");
    EXPECT_EQ(run_twice(std::ref(killed), 0, free).problem, "killed, twice");
    EXPECT_EQ(run_twice(std::ref(damaged), 0, free).problem, "cannot read it");
}

TEST(SecondTry, CountsFreeMemory) {
    EXPECT_GT(free_memory(), std::uint64_t{1} << 20);
    EXPECT_LT(free_memory(), std::uint64_t{1} << 50);
}

TEST(JobCondition, IsRead) {
    Result<JobCondition> cost = job_condition_of("cost > 2.5 %"), lost = job_condition_of("lost>0");
    ASSERT_TRUE(cost.ok());
    EXPECT_EQ(cost->text, "cost>2.5%");
    EXPECT_EQ(cost->metric, JobMetric::cost);
    EXPECT_EQ(cost->limit, 2.5);
    ASSERT_TRUE(lost.ok());
    EXPECT_FALSE(lost->percent);
    EXPECT_TRUE(job_condition_of("lost>1%")->percent);
    for (const char* wrong : {"cost", "cost<2%", "cost>2", "cost>x%", "cost>-1%", "cost>%", "speed>2%", "lost>nan"})
        EXPECT_EQ(job_condition_of(wrong).error().code, ExitCode::usage) << wrong;
}

TEST(PythonEngine, LinesAreRead) {
    Result<EngineLine> listed = engine_line(R"({"files": 12, "bytes": 3400})");
    ASSERT_TRUE(listed.ok());
    EXPECT_EQ(listed->files, 12U);
    EXPECT_EQ(listed->bytes, 3400U);
    Result<EngineLine> file = engine_line(
        R"({"number": 3, "name": "s3://a/b c", "rank": null, "bytes": -1, "kept": true, "summary": "/x", "problem": "", "foreign": false})");
    ASSERT_TRUE(file.ok() && file->file);
    EXPECT_EQ(file->number, 3U);
    EXPECT_EQ(file->file->file.path, "s3://a/b c");
    EXPECT_FALSE(file->file->file.rank);
    EXPECT_EQ(file->file->file.bytes, 0U);
    EXPECT_TRUE(file->file->cached);
    Result<EngineLine> error = engine_line(R"({"error": "no", "code": 99})");
    ASSERT_TRUE(error.ok() && error->error);
    EXPECT_EQ(error->error->code, ExitCode::internal);
    for (const char* wrong : {"", "[1]", "{}", "hello", R"({"name": 3})"})
        EXPECT_FALSE(engine_line(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace gpuprof
