// What a process wrote about its steps: windows, sentences, damage.
#include "io/importers/spool/spool_steps.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpuprof {
namespace {

using spool::KeptStep;

struct Written {
    spool::StepsSeen seen{};
    std::vector<spool::StepSeries> series;
    std::vector<KeptStep> kept;

    Written() {
        seen.keep = 3, seen.warm_up = 10;
        series.resize(1);
        series[0] = {1204, 812, 93 * kMillisecond, 50 * kMillisecond, 50 * kMillisecond, 50 * kMillisecond, 0, 0,
                     4243, 0};
    }
    Written& step(std::uint64_t number, std::int64_t begin, std::int64_t end, std::int64_t since = -1) {
        kept.push_back({number, (since < 0 ? begin : since) * kMillisecond, begin * kMillisecond, end * kMillisecond,
                        (end - begin) * kMillisecond, 50 * kMillisecond, 0, 4243, 0});
        return *this;
    }
    std::string bytes() const {
        spool::StepsSeen head = seen;
        head.series = static_cast<std::uint32_t>(series.size()), head.kept = static_cast<std::uint32_t>(kept.size());
        std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
        bytes.append(reinterpret_cast<const char*>(series.data()), series.size() * sizeof series[0]);
        bytes.append(reinterpret_cast<const char*>(kept.data()), kept.size() * sizeof(KeptStep));
        return bytes;
    }
    SpoolSteps read() const {
        SpoolSteps steps;
        EXPECT_TRUE(steps.take(bytes()));
        return steps;
    }
    // The sentence about the steps, and its key.
    std::pair<std::string, std::string> said() const {
        Batch batch;
        read().add_facts(batch, "process 7");
        const MetaTable& meta = batch.tables.meta;
        auto row = static_cast<Row>(meta.rows - 1);
        return {std::string(batch.strings[meta.key[row]]), std::string(batch.strings[meta.value[row]])};
    }
};

using Windows = std::map<TimeNs, TimeNs>;

TEST(SpoolSteps, WindowsThatOverlapAreOne) {
    Written written;
    written.step(9, 900, 1000, 850).step(3, 100, 200, 50).step(4, 200, 300, 100).step(5, 301, 310);
    EXPECT_EQ(written.read().windows(), (Windows{{50 * kMillisecond, 300 * kMillisecond},
                                                 {301 * kMillisecond, 310 * kMillisecond},
                                                 {850 * kMillisecond, 1000 * kMillisecond}}));
}

TEST(SpoolSteps, OfAKilledProcessTheEndIsKeptToo) {
    Written written;
    written.step(3, 100, 200).step(9, 900, 1000, 850);
    written.seen.since = 950 * kMillisecond;
    EXPECT_EQ(written.read().windows(), (Windows{{100 * kMillisecond, 200 * kMillisecond}, {850 * kMillisecond, 0}}));
    written.seen.since = 5000 * kMillisecond;
    EXPECT_EQ(written.read().windows().rbegin()->first, 5000 * kMillisecond);
}

TEST(SpoolSteps, NothingKeptHasNoWindow) { EXPECT_TRUE(Written().read().windows().empty()); }

TEST(SpoolSteps, SentenceOfTheSlowest) {
    Written written;
    written.step(77, 100, 180).step(812, 1000, 1093);
    written.seen.keep = 2;
    auto [key, text] = written.said();
    EXPECT_EQ(key, "slow_steps");
    EXPECT_EQ(text,
              "process 7: kept 2 of 1,204 steps: step 812 (93.0 ms, 1.86x the median), step 77 (80.0 ms, 1.60x the "
              "median); the median of "
              "the last steps is 50.0 ms");
}

TEST(SpoolSteps, SentenceOfATriggerThatNeverFired) {
    Written written;
    written.seen.trigger = 2'500'000;
    EXPECT_EQ(written.said().second,
              "process 7: no step took over 2.5x the median of the steps before it, so none of 1,204 steps was kept; "
              "the slowest after the "
              "warm-up was step 812 (93.0 ms, 1.86x the median); the median of the last steps is 50.0 ms");
    written.series[0] = {8, 0, 0, 0, 0, 0, 0, 0, 4243, 0};
    EXPECT_EQ(written.said().second,
              "process 7: no step took over 2.5x the median of the steps before it, so none of 8 steps was kept: all "
              "belong to the "
              "warm-up, the first 10 of a thread");
}

TEST(SpoolSteps, SentenceOfATriggerThatFired) {
    Written written;
    written.step(812, 1000, 1093);
    written.seen.trigger = 1'004'000, written.seen.fired = 1;
    EXPECT_NE(
        written.said().second.find(
            "kept 1 of 1,204 steps, the only one that took over 1.004x the median of the steps before it: step 812"),
        std::string::npos);
    written.seen.fired = 57;
    EXPECT_NE(
        written.said().second.find(
            "kept the 1 slowest of 57 steps that took over 1.004x the median of the steps before them, of 1,204 steps"),
        std::string::npos);
}

TEST(SpoolSteps, DriftAndPausesAreSaid) {
    Written written;
    written.step(812, 1000, 1093);
    written.series[0].last_median = 90 * kMillisecond;
    written.series[0].longest_between = 5000 * kMillisecond;
    std::string text = written.said().second;
    EXPECT_NE(text.find("steps became slower: the median was 50.0 ms at first and 90.0 ms at the end"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("up to 5.00 s passed between two steps, more than in any step"), std::string::npos) << text;
}

TEST(SpoolSteps, AKilledProcessNeverSaysThatThereWereNoSteps) {
    const std::string kBegin =
        "process 7 did not finish its recording (killed, exec, or a full disk); at its last report: ";
    Written written;
    written.seen.since = 1, written.seen.reported = 3500 * kMillisecond;
    written.series[0] = {0, 0, 0, 0, 0, 0, 0, 1000 * kMillisecond, 4243, 0};
    auto [key, text] = written.said();
    EXPECT_EQ(key, "no_steps");
    EXPECT_EQ(text, kBegin + "no step ended; one began 2.50 s earlier; its last records are kept too");
    written.series[0].open_is_mark = 1;
    EXPECT_NE(written.said().second.find("one began 2.50 s earlier with a mark, and the next mark would end it"),
              std::string::npos);
    written.series[0] = {12, 0, 0, 0, 0, 0, 0, 1000 * kMillisecond, 4243, 0};
    written.step(11, 10, 20);
    EXPECT_EQ(written.said().second,
              kBegin +
                  "kept 1 of 12 steps: step 11 (10.0 ms, 0.20x the median); its step 13 had lasted 2.50 s; its last "
                  "records are kept too");
}

TEST(SpoolSteps, AStepWithoutItsBeginningIsALoss) {
    Written written;
    written.step(812, 1000, 1093);
    written.kept[0].missing = 40 * kMillisecond;
    Batch batch;
    written.read().add_facts(batch, "process 7");
    EXPECT_EQ(batch.losses[static_cast<std::size_t>(Loss::recorder_loss)].count, 1u);
    EXPECT_NE(written.said().second.find("without its first 40.0 ms"), std::string::npos);
}

TEST(SpoolSteps, DamageIsRejectedAndTheLastSoundStateStays) {
    Written written;
    written.step(812, 1000, 1093);
    std::string bytes = written.bytes();
    SpoolSteps steps;
    EXPECT_TRUE(steps.take(bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(steps.take(std::string_view(bytes).substr(0, size))) << size;
    Written other = written;
    other.kept[0].end = other.kept[0].begin - 1;
    EXPECT_FALSE(steps.take(other.bytes()));
    std::uint32_t many = std::numeric_limits<std::uint32_t>::max();
    bytes.replace(offsetof(spool::StepsSeen, kept), sizeof many, reinterpret_cast<const char*>(&many), sizeof many);
    EXPECT_FALSE(steps.take(bytes));
    EXPECT_EQ(steps.windows().size(), 1u);
}

TEST(KeptSteps, FactsAreReadBack) {
    KeptStepFact step;
    step.number = 812, step.span = {1000, 2000}, step.duration = 999, step.median = 500, step.warm_up = true,
    step.thread = "4243";
    std::optional<KeptStepFact> read = decode_kept_step(encode_kept_step(step));
    ASSERT_TRUE(read);
    EXPECT_EQ(encode_kept_step(*read), encode_kept_step(step));
    for (const char* wrong : {"", "step=1", "step=0 start_ns=1 end_ns=2 duration_ns=1",
                              "step=1 start_ns=3 end_ns=2 duration_ns=1", "step=x start_ns=1 end_ns=2 duration_ns=1"})
        EXPECT_FALSE(decode_kept_step(wrong)) << wrong;
}

}  // namespace
}  // namespace gpuprof
