// Are collectives matched wrongly, and do the stated errors of clocks cover the truth? Seeded trials on planted jobs: few here;
// GPUPROF_TRIALS=20 is the run of docs/how-it-works/benchmarks/ranks.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "analyze/facts/facts.h"
#include "ranks/clocks/clocks.h"
#include "ranks/match/match.h"
#include "tests/unit/ranks/planted_job.h"

namespace gpuprof {
namespace {

int trials() {
    const char* asked = std::getenv("GPUPROF_TRIALS");
    return asked != nullptr ? std::atoi(asked) : 2;
}

struct Outcome {
    std::size_t records = 0, matched = 0, wrong = 0;  // wrong: members of an instance that are of another collective
    std::size_t clocks = 0, aligned = 0, covered = 0;
    double worst_ns = 0, stated_ns = 0;  // sum of stated errors

    void add(const Outcome& other) {
        records += other.records, matched += other.matched, wrong += other.wrong;
        clocks += other.clocks, aligned += other.aligned, covered += other.covered;
        worst_ns = std::max(worst_ns, other.worst_ns), stated_ns += other.stated_ns;
    }
};

void check_matches(const Facts& facts, const PlantedJob& planted, Outcome& found) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    found.records = job.collectives.size();
    for (const Instance& instance : matched.instances) {
        if (instance.count < 2) continue;
        std::map<std::int64_t, std::size_t> truths;
        for (std::uint32_t i : matched.of(instance))
            ++truths[planted.truth(job.ranks[job.collectives[i].rank].rank, job.collectives[i].span.start)];
        std::size_t most = 0;
        for (const auto& [truth, count] : truths) most = std::max(most, count);
        found.matched += instance.count;
        found.wrong += instance.count - most;
    }
}

// A clock is covered if its stated error is not exceeded at either end of the recording. What all clocks of an island have in
// common does not matter.
void check_clocks(const Facts& facts, const PlantedJob& planted, Outcome& found) {
    const Job& job = facts.get<Job>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    std::map<std::uint32_t, std::vector<std::size_t>> islands;
    for (std::size_t i = 0; i < job.clocks.size(); ++i)
        if (clocks.clocks[i].aligned) islands[clocks.clocks[i].island].push_back(i);
    found.clocks = job.clocks.size();
    for (const auto& [island, members] : islands) {
        std::vector<double> worst(members.size());
        for (double at : {planted.middle() - planted.half(), planted.middle(), planted.middle() + planted.half()}) {
            std::vector<double> errors;
            double mean = 0;
            for (std::size_t i : members) {
                const ClockFit& fit = clocks.clocks[i];
                double fitted = fit.offset_ns + fit.rate_ppm * 1e-6 * (at - static_cast<double>(clocks.middle));
                std::int32_t rank = job.ranks[job.clocks[i].ranks.front()].rank;
                double truth = planted.ahead(planted.host_of(rank), at);
                if (!job.clocks[i].host) truth += planted.gpus[static_cast<std::size_t>(rank)];
                errors.push_back(fitted - truth);
                mean += errors.back() / static_cast<double>(members.size());
            }
            for (std::size_t k = 0; k < errors.size(); ++k) worst[k] = std::max(worst[k], std::abs(errors[k] - mean));
        }
        for (std::size_t k = 0; k < members.size(); ++k) {
            ++found.aligned;
            found.covered += worst[k] <= clocks.clocks[members[k]].error_ns;
            found.worst_ns = std::max(found.worst_ns, worst[k]);
            found.stated_ns += clocks.clocks[members[k]].error_ns;
        }
    }
}

Outcome run(const char* what, Plan plan) {
    Outcome all;
    for (int i = 0; i < trials(); ++i) {
        plan.seed = static_cast<std::uint32_t>(i + 1);
        PlantedJob planted(plan);
        Trace trace = planted.finish();
        Facts facts(trace, {});
        Outcome one;
        check_matches(facts, planted, one);
        check_clocks(facts, planted, one);
        all.add(one);
    }
    auto share = [](std::size_t part, std::size_t of) {
        return of > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(of) : 0;
    };
    std::printf(
        "%-58s matched %5.1f %%, wrong %6.3f %%; aligned %5.1f %%, covered %5.1f %%, worst %9.1f us, stated %7.1f us\n",
        what, share(all.matched, all.records), share(all.wrong, all.matched), share(all.aligned, all.clocks),
        share(all.covered, all.aligned), all.worst_ns / 1e3,
        all.aligned > 0 ? all.stated_ns / static_cast<double>(all.aligned) / 1e3 : 0);
    return all;
}

void expect_right(const Outcome& found) {
    EXPECT_EQ(found.wrong, 0U);
    EXPECT_GE(found.covered, found.aligned * 95 / 100);
}
void expect_all_matched(const Outcome& found) {
    expect_right(found);
    EXPECT_EQ(found.matched, found.records);
    EXPECT_EQ(found.aligned, found.clocks);
}

// By their order: in a job or two, the ends of a rank look by chance as if it had lost records.
void expect_nearly_all_matched(const Outcome& found) {
    expect_right(found);
    EXPECT_GE(static_cast<double>(found.matched), 0.98 * static_cast<double>(found.records));
    EXPECT_EQ(found.aligned, found.clocks);
}

std::string text(const std::string& what, Rhythm rhythm) {
    constexpr const char* kNames[] = {"regular", "bursts", "training"};
    return std::string(kNames[static_cast<int>(rhythm)]) + ", " + what;
}

class MatchTrials : public testing::TestWithParam<Rhythm> {
protected:
    Plan plan(bool numbered) const {
        Plan made;
        made.rhythm = GetParam();
        made.numbered = numbered;
        return made;
    }
    Outcome run(const std::string& what, const Plan& plan) const {
        return gpuprof::run(text(what, GetParam()).c_str(), plan);
    }
    static std::string described(const Plan& plan) {
        std::string groups = plan.numbered ? "numbers" : plan.pairs ? "" : "order";
        return groups + (plan.numbered && plan.pairs ? " and " : "") + (plan.pairs ? "pairs" : "");
    }
};

TEST_P(MatchTrials, WholeRecordingsAreMatched) {
    for (bool hosts : {true, false}) {
        Plan numbered = plan(true), ordered = plan(false), pairs = plan(false);
        numbered.host_names = ordered.host_names = pairs.host_names = hosts;
        pairs.pairs = true;
        expect_all_matched(run(hosts ? "numbers" : "numbers, no host names", numbered));
        Outcome by_order = run(hosts ? "order" : "order, no host names", ordered);
        Outcome in_chain = run(hosts ? "pairs in a chain" : "pairs in a chain, no host names", pairs);
        expect_right(by_order), expect_right(in_chain);
        if (GetParam() == Rhythm::training) expect_all_matched(by_order), expect_all_matched(in_chain);
        pairs.numbered = true;
        expect_all_matched(run(hosts ? "numbers and pairs" : "numbers and pairs, no host names", pairs));
    }
}

TEST_P(MatchTrials, LateBeginningsShiftNothing) {
    for (bool numbered : {true, false})
        for (bool pairs : {false, true}) {
            Plan late = plan(numbered);
            late.most_late = 50, late.pairs = pairs;
            expect_right(run(described(late) + ", up to 50 late", late));
        }
}

TEST_P(MatchTrials, LostRecordsShiftNothing) {
    for (bool numbered : {true, false})
        for (bool pairs : {false, true})
            for (double lost : {0.01, 0.1, 0.3}) {
                Plan plan = this->plan(numbered);
                plan.lost = lost, plan.pairs = pairs;
                std::string what = described(plan) + ", lost " + std::to_string(static_cast<int>(100 * lost)) + " %";
                expect_right(run(what, plan));
            }
}

// Without numbers, a recording of every k-th collective looks like a whole one of fewer. It is refused by pauses that the ranks
// do not share; for large k they share most of each pause, and nothing tells.
TEST_P(MatchTrials, SampledRecordings) {
    for (bool numbered : {true, false})
        for (std::int32_t every : {2, 3, 5, 10})
            for (bool hosts : {true, false}) {
                Plan plan = this->plan(numbered);
                plan.every = every, plan.host_names = hosts;
                std::string what =
                    described(plan) + ", every " + std::to_string(every) + (hosts ? "" : ", no host names");
                Outcome found = run(what, plan);
                if (numbered || every < 5) expect_right(found);
            }
}

TEST_P(MatchTrials, StepsWithoutNames) {
    for (bool numbered : {true, false})
        for (bool hosts : {true, false})
            for (bool pairs : {false, true}) {
                Plan plan = this->plan(numbered);
                plan.step_names = false, plan.host_names = hosts, plan.pairs = pairs;
                std::string what = described(plan) + ", unnamed steps" + (hosts ? "" : ", no host names");
                expect_right(run(what, plan));
            }
}

// By one clock even pauses tell which records are one collective, also where ends differ by much of a pause.
TEST_P(MatchTrials, OneHost) {
    Plan plan = this->plan(false);
    plan.one_host = true;
    expect_nearly_all_matched(run("order, one host", plan));
    if (GetParam() != Rhythm::bursts) {
        plan.jitter_ns = 150'000;
        expect_nearly_all_matched(run("order, one host, ends differ", plan));
    }
    plan.steps = 10, plan.per_step = 1;
    expect_nearly_all_matched(run("order, one host, 10 collectives", plan));
}

TEST_P(MatchTrials, DamagedRecordingsOfOneHost) {
    Plan plan = this->plan(false);
    plan.one_host = true;
    for (std::int32_t every : {2, 3, 5, 10}) {
        plan.every = every;
        expect_right(run("order, one host, every " + std::to_string(every), plan));
    }
    plan.every = 1;
    for (double lost : {0.01, 0.1, 0.3}) {
        plan.lost = lost;
        expect_right(run("order, one host, lost " + std::to_string(static_cast<int>(100 * lost)) + " %", plan));
    }
    plan.lost = 0, plan.most_late = 50;
    expect_right(run("order, one host, up to 50 late", plan));
    plan.most_late = 0, plan.step_names = false;
    expect_right(run("order, one host, unnamed steps", plan));
}

TEST_P(MatchTrials, GroupsOfOneName) {
    for (bool numbered : {true, false}) {
        Plan plan = this->plan(numbered);
        plan.ranks_known = false;
        Outcome found = run(numbered ? "numbers, two groups of one name" : "order, two groups of one name", plan);
        EXPECT_EQ(found.matched, 0U);
        plan.of_host = 1, plan.hosts = 40;
        plan.steps = 8;
        Outcome large = run(numbered ? "numbers, one group of 40" : "order, one group of 40", plan);
        if (numbered)
            expect_all_matched(large);
        else
            expect_right(large);
    }
}

TEST_P(MatchTrials, UnequalSizes) {
    Plan plan = this->plan(false);
    plan.equal_sizes = false, plan.every = 3;
    expect_right(run("order, every 3, unequal sizes", plan));
    plan.every = 1, plan.lost = 0.05;
    expect_right(run("order, lost 5 %, unequal sizes", plan));
}

TEST_P(MatchTrials, FewCollectives) {
    for (std::int32_t steps : {1, 2, 5}) {
        Plan plan = this->plan(true);
        plan.steps = steps;
        expect_right(run("numbers, " + std::to_string(10 * steps) + " collectives", plan));
        plan.pairs = true;
        expect_right(run("numbers and pairs, " + std::to_string(10 * steps) + " in a step", plan));
    }
}

INSTANTIATE_TEST_SUITE_P(Rhythms, MatchTrials, testing::Values(Rhythm::regular, Rhythm::bursts, Rhythm::training),
                         [](const auto& about) {
                             return std::string(about.param == Rhythm::regular  ? "Regular"
                                                : about.param == Rhythm::bursts ? "Bursts"
                                                                                : "Training");
                         });

}  // namespace
}  // namespace gpuprof
