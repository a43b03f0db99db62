#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "cli/ranks/job_conditions.h"
#include "cli/ranks/job_progress.h"
#include "cli/ranks/reader_process.h"
#include "cli/ranks/remote_engine.h"
#include "cli/ranks/several_jobs.h"
#include "core/base/files/temporary_file.h"
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

// The files of a job after a conversation, and what the program said in it.
struct Said {
    Result<std::vector<ReducedFile>> files;
    std::vector<std::string> lines;
};

Said converse(const std::string& lines, std::uint64_t memory = 0) {
    TemporaryFolder folder = TemporaryFolder::make().value();
    int input[2], output[2];
    EXPECT_EQ(pipe(input), 0);
    EXPECT_EQ(pipe(output), 0);
    EXPECT_EQ(write(input[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    close(input[1]);
    JobRequest request;
    request.engine.cache = request.engine.unkept = folder.path();
    request.engine.memory = memory;
    JobProgress progress;
    Said said{reduce_elsewhere(input[0], output[1], request, progress), {}};
    close(output[1]);
    std::string text(65536, ' ');
    text.resize(static_cast<std::size_t>(read(output[0], text.data(), text.size())));
    close(input[0]);
    close(output[0]);
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1))
        said.lines.push_back(text.substr(0, end));
    return said;
}

constexpr const char* kTwoFiles =
    R"({"name": "s3://a/rank3 b", "bytes": 340, "stamp": "x"}
{"name": "s3://a/r4", "bytes": -1, "stamp": ""}
{"inputs": 2}
)";

TEST(RemoteEngine, HasFilesReadAndTakesWhatBecameOfThem) {
    Said said = converse(std::string(kTwoFiles) +
                         R"({"number": 1, "status": 3, "said": "gpu-profile: no more disk\n", "free": 0}
{"number": 0, "status": 0, "said": "", "free": 0}
)");
    ASSERT_TRUE(said.files.ok()) << said.files.error().message;
    const std::vector<ReducedFile>& files = *said.files;
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].file.path, "s3://a/rank3 b");
    EXPECT_EQ(files[0].file.rank, 3);
    EXPECT_NE(files[0].summary, "");
    EXPECT_EQ(files[1].summary, "");
    EXPECT_EQ(files[1].problem, "no more disk");
    EXPECT_EQ(files[1].file.bytes, 0U);
    ASSERT_EQ(said.lines.size(), 5U);
    EXPECT_NE(said.lines[0].find(
                  R"("number": 0, "input": 0, "name": "s3://a/rank3 b", "bytes": 340, "words": ["--rank", "3"])"),
              std::string::npos)
        << said.lines[0];
    EXPECT_EQ(said.lines[2], R"({"seconds": 600.0})");
    EXPECT_EQ(said.lines[3], R"({"done": 1, "files": 2, "bytes": 0, "lost": 1})");
    EXPECT_EQ(said.lines[4], R"({"done": 2, "files": 2, "bytes": 340, "lost": 1})");
}

TEST(RemoteEngine, AFileThatNeedsMoreIsReadOnceMore) {
    const std::string lines = std::string(kTwoFiles) + R"({"number": 0, "status": -9, "said": "", "free": 4000}
{"number": 1, "status": null, "said": "", "free": 4000}
{"number": 0, "status": 6, "said": "out of memory", "free": 4000}
)";
    Said said = converse(lines, 1000);
    ASSERT_TRUE(said.files.ok()) << said.files.error().message;
    EXPECT_EQ((*said.files)[0].problem, "out of memory with --memory 1000 B, and with 1.95 KiB");
    EXPECT_EQ((*said.files)[1].problem, "reading it took longer than 600 s");
    ASSERT_EQ(said.lines.size(), 8U);
    EXPECT_EQ(said.lines[3], "{}");
    EXPECT_NE(said.lines[5].find(R"("--memory", "2000"])"), std::string::npos) << said.lines[5];
}

TEST(RemoteEngine, ErrorsAreThoseOfTheOtherEnd) {
    auto error = [](const std::string& line) { return converse(kTwoFiles + line + "\n").files.error(); };
    EXPECT_EQ(error(R"({"error": "no", "code": 99})").code, ExitCode::internal);
    EXPECT_EQ(error(R"({"error": "no", "code": 5})").code, ExitCode::not_permitted);
    EXPECT_EQ(error(R"({"lost": "KeyError: 3"})").code, ExitCode::unreadable);
    EXPECT_NE(error(R"({"lost": "KeyError: 3"})").message.find("lost after 0 of 2 files (KeyError: 3)"),
              std::string::npos);
    EXPECT_EQ(converse("").files.error().code, ExitCode::internal);
    for (const char* wrong :
         {"", "[1]", "{}", "hello", R"({"name": 3})", R"({"number": 2, "status": 0})", R"({"number": -1})"})
        EXPECT_EQ(error(wrong).code, ExitCode::internal) << wrong;
}

}  // namespace
}  // namespace gpuprof
