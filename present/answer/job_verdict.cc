#include "present/answer/job_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text/rank_list.h"
#include "core/base/text/readable.h"
#include "core/model/build/damage.h"
#include "present/answer/trust.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/hosts.h"
#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/pages/steps_of_ranks.h"
#include "ranks/price/peers.h"
#include "ranks/price/rank_waits.h"
#include "ranks/price/replay.h"
#include "ranks/price/stages.h"
#include "ranks/price/stragglers.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline answer {
namespace {

// Unexplained gaps of more than this share of the steps may change the answer.
constexpr double kGapsMatter = 0.05;

// Ranks that lost more than this share of their collectives look different from their peers for no other reason.
constexpr double kMostLost = 0.01;

// The answer is unknown if more of the time in collectives than this is in kernels of unknown groups.
constexpr double kMostUndescribed = 0.5;
// The same of collectives with ranks whose clocks cannot be compared. One host of eight without a clock is 0.2.
constexpr double kMostIncomparable = 0.3;
// Of the time in collectives, of ranks that left before all had come. In drawn jobs whose clocks are aligned it is below 0.001; in
// those with a jump of 3 ms that was not found, 0.05 to 0.6.
constexpr double kMostContradicted = 0.02;

// A share of the step that even stages must save to be worth a sentence.
constexpr double kUneven = 0.03;
constexpr const char* kUnevenStages = "uneven stages";

// Fewer steps may all be exceptions.
constexpr std::size_t kStepsForHighConfidence = 5;

// A share of the step: less is as good as nothing.
constexpr double kWorthASentence = 0.001;

// The middle third of the peers that is further apart than this share of the step.
constexpr double kHalvesDiffer = 0.02;

std::string sentence_of(const Straggler& unit, double step_ns) {
    std::string price =
        unit.cost_ns >= kWorthASentence * step_ns
            ? fmt::format("costs {} per step ({:.1f} %)", readable_duration(unit.cost_ns), 100 * unit.cost_ns / step_ns)
            : "costs nothing now";
    if (unit.alone_ns > 1.1 * std::max(unit.cost_ns, 0.0))
        price += fmt::format(", and {} once the others are fixed", readable_duration(unit.alone_ns));
    return fmt::format("{} ({}) {}", unit.unit, name_of(unit.cause), price);
}

// What uneven ranks cost in too few steps to name one.
std::string too_few_steps(const Stragglers& found) {
    std::size_t steps = found.counted.size();
    std::string text = fmt::format(
        "{} too few to tell chance from habit, so nobody is named; {:.1f} % of a step of {} is lost to uneven ranks "
        "and "
        "transfers",
        steps == 1 ? "one step is" : fmt::format("{} steps are", steps),
        100 * std::max(found.step_ns - found.ideal_ns, 0.0) / std::max(found.step_ns, 1.0),
        readable_duration(found.step_ns));
    bool any = !found.units.empty() && found.units.front().cost_ns >= kWorthASentence * found.step_ns;
    return any ? text + ": " + sentence_of(found.units.front(), found.step_ns) : text;
}

// The rank with most idle time without a cause.
std::string most_idle(const Job& job) {
    std::map<std::uint32_t, DurNs> idle;
    for (const Job::RankStep& step : job.rank_steps) idle[step.rank] += step.own.unknown;
    auto most =
        std::max_element(idle.begin(), idle.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == idle.end() || most->second == 0 || job.steps.empty()) return {};
    return fmt::format(" (rank {} most, {} per step)", job.ranks[most->first].rank,
                       readable_duration(most->second / static_cast<DurNs>(job.steps.size())));
}

// What even stages of a pipeline would save; empty if that is little.
std::string uneven_stages(const Facts& facts) {
    const StagePrice& price = facts.get<StagePrice>();
    double gain = price.step_ns - price.even_ns;
    if (price.stages.empty() || gain < kUneven * price.step_ns) return {};
    auto most = std::max_element(price.stages.begin(), price.stages.end(),
                                 [](const auto& a, const auto& b) { return a.compute_ns < b.compute_ns; });
    return fmt::format(
        "the stages of the pipeline are uneven: stage {} computes {:.2f} x their mean, and even ones would save {} per "
        "step ({:.1f} %, see the table pipeline)",
        most - price.stages.begin(), most->compute_ns / price.mean_compute(), readable_duration(gain),
        100 * gain / price.step_ns);
}

// The share of collectives that ranks should have recorded and did not.
double share_lost(const MatchedJob& matched) {
    return static_cast<double>(matched.lost) / std::max(static_cast<double>(matched.expected), 1.0);
}

// The share of the time in collectives that ran in kernels of unknown groups: who waits in them is unknown.
double share_undescribed(const Job& job, const MatchedJob& matched) {
    double all = 0, undescribed = 0;
    for (const Job::Collective& collective : job.collectives) {
        auto length = static_cast<double>(collective.span.length());
        all += length;
        if (collective.group == kNone || matched.unproven[collective.group]) undescribed += length;
    }
    return undescribed / std::max(all, 1.0);
}

// NCCL Inspector says how long collectives took, but not when they ran.
bool only_durations(const Trace& trace) {
    const RankTable& table = trace.tables().rank;
    bool any = false;
    for (Row row = 0; row < table.rows; ++row) {
        std::string_view importer = trace.text(table.importer.value_or(row, kNoString));
        if (!importer.empty() && importer != "nccl_inspector") return false;
        any = any || !importer.empty();
    }
    return any;
}

void warn(Trust& trust, std::string text) { trust.statements.push_back({true, std::move(text)}); }

std::string counted(std::uint64_t count, std::string_view thing, std::string_view things) {
    return fmt::format("{} {}", readable_count(static_cast<std::int64_t>(count)), count == 1 ? thing : things);
}

// Files that were not read, and ranks whose steps are not those of most others.
void add_files(const Facts& facts, Trust& trust) {
    const Trace& trace = facts.trace();
    std::string skipped;
    if (std::uint64_t copies = count_of(trace, Loss::second_copy); copies > 0)
        skipped += counted(copies, "second copy", "second copies");
    if (std::uint64_t foreign = count_of(trace, Loss::foreign_file); foreign > 0)
        skipped += (skipped.empty() ? "" : " and ") +
                   counted(foreign, "file that is not a recording", "files that are not recordings");
    if (!skipped.empty()) trust.statements.push_back({false, skipped + " skipped (see the table losses)"});
    std::vector<std::int32_t> others;
    for (const OtherSteps& each : facts.get<StepsOfRanks>().others) others.push_back(each.rank);
    if (!others.empty())
        warn(trust, fmt::format("{} recorded other steps than most: {} (see the table ranks)",
                                counted(others.size(), "rank", "ranks"), format_ranks(others)));
    if (std::uint64_t ranks = count_of(trace, Loss::no_steps); ranks > 0)
        warn(trust, fmt::format("no steps were found on {}; each whole recording counts as one (see the table losses)",
                                counted(ranks, "rank", "ranks")));
    if (std::uint64_t ranks = count_of(trace, Loss::steps_by_order); ranks > 0)
        warn(trust,
             fmt::format("the steps of {} have no numbers and were matched by their order (see the table losses)",
                         counted(ranks, "rank", "ranks")));
}

// Collectives that were matched with no other rank, by the reason.
void add_undescribed(const Facts& facts, Trust& trust) {
    const MatchedJob& matched = facts.get<MatchedJob>();
    if (matched.undescribed == 0) return;
    std::uint64_t in_graphs = count_of(facts.trace(), Loss::graph_collective),
                  transfers = count_of(facts.trace(), Loss::several_transfers),
                  others = matched.undescribed - std::min<std::uint64_t>(matched.undescribed, in_graphs + transfers);
    std::string why;
    for (auto [count, words] :
         {std::pair(in_graphs, "in CUDA graphs"), std::pair(transfers, "in batches of different collectives"),
          std::pair(others, "without a description")})
        if (count > 0)
            why += fmt::format("{}{} {}", why.empty() ? "" : ", ", readable_count(static_cast<std::int64_t>(count)),
                               words);
    double share = share_undescribed(facts.get<Job>(), matched);
    std::string text = fmt::format("{} matched with no other rank, {:.1f} % of the time in collectives{}",
                                   counted(matched.undescribed, "collective was", "collectives were"), 100 * share,
                                   why.empty() ? "" : ": " + why);
    if (share > kMostLost) text += "; waiting in them counts as communication, so prices may be too low";
    trust.statements.push_back({share > kMostLost, text});
}

// Collectives whose group nothing names.
void add_assumed(const Facts& facts, Trust& trust) {
    const MatchedJob& matched = facts.get<MatchedJob>();
    std::size_t assumed = 0;
    for (const Instance& instance : matched.instances) assumed += instance.rule == MatchRule::guessed;
    if (assumed == 0) return;
    trust.statements.push_back({false, fmt::format("{} no group; their order and times say that all ranks took part",
                                                   counted(assumed, "collective names", "collectives name"))});
}

void add_clocks(const Job& job, const AlignedClocks& clocks, Trust& trust) {
    std::size_t present = 0, unaligned = 0;
    std::set<std::uint32_t> islands;
    for (std::size_t i = 0; i < job.clocks.size(); ++i) {
        const std::vector<std::uint32_t>& ranks = job.clocks[i].ranks;
        if (std::none_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return job.ranks[rank].present; }))
            continue;
        ++present;
        unaligned += !clocks.clocks[i].aligned;
        islands.insert(clocks.clocks[i].island);
    }
    if (present > 1 && unaligned > 0)
        warn(trust, fmt::format("{} of {} clocks could not be aligned; their waits are absent (see the table hosts)",
                                unaligned, present));
    if (islands.size() > 1)
        warn(trust, fmt::format("the hosts share no chain of groups: {} islands of clocks that cannot be compared",
                                islands.size()));
}

// Of the time in collectives that all ranks leave together, the part of ranks that left before the last one had come: by clocks
// that do not agree.
double share_contradicted(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const JobReplay& replay = facts.get<JobReplay>();
    double all = 0, contradicted = 0;
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i) {
        if (matched.instance_of[i] == kNone || job.collectives[i].is_pair()) continue;
        auto length = static_cast<double>(job.collectives[i].span.length());
        all += length;
        if (!replay.waits[i]) contradicted += length;
    }
    return contradicted / std::max(all, 1.0);
}

// What no peers can judge: the host of all ranks of a stage.
std::string slow_lone_host(const Facts& facts, double step_ns) {
    std::optional<LoneHost> lone = lone_host(facts);
    if (!lone || lone->more_ns < kHalvesDiffer * step_ns) return "";
    return fmt::format(
        "GPUs of host {} are idle {} more per step than others while the host works or launches; it has all ranks that "
        "do the same, so nothing tells whether it is slow",
        facts.get<JobHosts>().hosts[lone->host].name, readable_duration(lone->more_ns));
}

// Ranks without a whole recording of the steps that prices are based on, if others may have waited for them.
std::string absent_ranks(const Facts& facts) {
    const Stragglers& found = facts.get<Stragglers>();
    if (found.absent_ns < kMaterial * found.step_ns) return "";
    const Job& job = facts.get<Job>();
    std::vector<std::int32_t> absent;
    for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank)
        if (!job.ranks[rank].present || std::any_of(found.counted.begin(), found.counted.end(), [&](std::size_t step) {
                return job.find_step(rank, job.steps[step]) == nullptr;
            }))
            absent.push_back(job.ranks[rank].rank);
    return fmt::format("{} no whole recording of these steps ({}), and others may wait for {} for up to {} per step",
                       counted(absent.size(), "rank has", "ranks have"), format_ranks(absent),
                       absent.size() == 1 ? "it" : "them", readable_duration(found.absent_ns));
}

// The unit that costs most, if it is worth a name and has none because its price is too uncertain.
std::string uncertain_unit(const Stragglers& found) {
    const Straggler* most = nullptr;
    for (const Straggler& unit : found.units)
        if (most == nullptr || unit.cost_ns > most->cost_ns) most = &unit;
    if (most == nullptr || most->named || most->cost_ns < kMaterial * found.step_ns) return "";
    return sentence_of(*most, found.step_ns) + ", but too unevenly to be certain";
}

// Why "no stragglers" would be too much to say; empty if nothing speaks against it.
std::string doubt_of(const Facts& facts, double step_ns) {
    const MatchedJob& matched = facts.get<MatchedJob>();
    if (share_lost(matched) > kMostLost)
        return "ranks lost a part of their collectives, so their steps cannot be compared";
    if (facts.get<RankWaits>().incomparable > kMostIncomparable)
        return "ranks wait for others whose clocks cannot be compared with theirs";
    if (double share = share_contradicted(facts); share > kMostContradicted)
        return fmt::format(
            "the clocks of the ranks contradict each other: by them, {:.0f} % of the time in collectives is of ranks "
            "that left "
            "before the last one had come",
            100 * share);
    if (share_undescribed(facts.get<Job>(), matched) > kMostUndescribed)
        return "the kernels of most collectives do not say which ranks wait in them";
    if (std::string absent = absent_ranks(facts); !absent.empty()) return absent;
    if (facts.get<JobReplay>().has_doubtful_steps())
        return "of the few steps that most ranks recorded, one is the first of some ranks, or has a clock that was set";
    return slow_lone_host(facts, step_ns);
}

}  // namespace

Verdict job_verdict(const Facts& facts) {
    const Stragglers& found = facts.get<Stragglers>();
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    std::string uneven = uneven_stages(facts);
    if (!found.reason.empty()) {
        std::string reason =
            only_durations(facts.trace())
                ? "NCCL Inspector records how long collectives took, not when they ran, so ranks cannot be compared; "
                  "gpu-profile report FILE collectives shows the bandwidths of one rank"
                : found.reason;
        verdict.because = uneven.empty() ? reason : fmt::format("{}. No prices of ranks: {}", uneven, reason);
        if (uneven.empty()) return verdict;
        verdict.name = kUnevenStages;
        verdict.basis = Basis::timeline;
        verdict.confidence = Rating::medium;
        return verdict;
    }
    std::vector<const Straggler*> named;
    for (const Straggler& unit : found.units)
        if (unit.named) named.push_back(&unit);
    verdict.basis = Basis::timeline;
    verdict.confidence = Rating::high;
    double unknown =
        std::max(share_undescribed(facts.get<Job>(), facts.get<MatchedJob>()), facts.get<RankWaits>().incomparable);
    std::string doubt = doubt_of(facts, found.step_ns);
    DurNs spread = facts.get<Peers>().spread;
    bool halves = static_cast<double>(spread) > kHalvesDiffer * found.step_ns;
    if (found.actual_ns > (1 + kGapsMatter) * found.step_ns) verdict.confidence = Rating::medium;
    if (found.counted.size() < kStepsForHighConfidence || unknown > kMostLost) verdict.confidence = Rating::medium;
    if (halves || !doubt.empty()) verdict.confidence = Rating::low;
    std::string divided = halves ? fmt::format(
                                       "; about half of the ranks need {} more per step than the others, and no median "
                                       "can tell which half is right (see the table ranks)",
                                       readable_duration(spread))
                                 : "";
    if (!uneven.empty()) uneven = "; " + uneven;
    if (named.empty() && doubt.empty() && found.counted.size() >= kFewestSteps) doubt = uncertain_unit(found);
    if (named.empty() && !doubt.empty()) {
        verdict.conclude(Limit::unknown);
        verdict.confidence = Rating::low;
        verdict.because = doubt + uneven;
        return verdict;
    }
    if (found.counted.size() < kFewestSteps) {
        verdict.conclude(Limit::unknown);
        verdict.because = too_few_steps(found) + uneven + divided;
        return verdict;
    }
    if (named.empty()) {
        verdict.name = uneven.empty() ? "no stragglers" : kUnevenStages;
        verdict.because = fmt::format("no rank, host or group costs 1 % of a step of {}{}{}",
                                      readable_duration(found.step_ns), uneven, divided);
        return verdict;
    }
    verdict.name = "stragglers";
    // Peers that are all alike have noise too, which fixing one unit may gain.
    double most = std::max(found.step_ns - found.ideal_ns, named.front()->cost_ns);
    double lost = 100 * most / std::max(found.step_ns, 1.0);
    verdict.because =
        fmt::format("{:.1f} % of a step of {} is lost to uneven ranks and transfers: {}", std::max(lost, 0.0),
                    readable_duration(found.step_ns), sentence_of(*named.front(), found.step_ns));
    for (std::size_t i = 1; i < std::min<std::size_t>(named.size(), 4); ++i)
        verdict.because += "; " + sentence_of(*named[i], found.step_ns);
    if (named.size() > 4) verdict.because += fmt::format("; {} more", named.size() - 4);
    verdict.because += uneven + divided + (doubt.empty() ? "" : "; " + doubt);
    return verdict;
}

Trust job_trust(const Facts& facts) {
    Trust trust;
    if (std::string damage = damage_of(facts.trace()); !damage.empty())
        trust.statements.push_back({.warning = true, .text = damage, .damage = true});
    const RankTable& rows = facts.trace().tables().rank;
    std::map<std::string_view, std::size_t> states;
    for (Row row = 0; row < rows.rows; ++row) ++states[facts.trace().text(rows.status.value_or(row, kNoString))];
    const Job& job = facts.get<Job>();
    std::size_t present = states["whole"] + states["cut"];
    bool excluded =
        std::any_of(job.ranks.begin(), job.ranks.end(), [](const Job::Rank& rank) { return rank.excluded; });
    std::string absent;
    for (std::string_view state : {"cut", "unreadable", "missing"})
        if (states[state] > 0) absent += fmt::format("{}{} {}", absent.empty() ? "" : ", ", states[state], state);
    trust.statements.push_back({false, fmt::format("{} rank{}, {} step{}", present, present == 1 ? "" : "s",
                                                   job.steps.size(), job.steps.size() == 1 ? "" : "s")});
    if (!absent.empty())
        warn(trust, fmt::format(
                        "{} of {} ranks: {} (see the table ranks); {}waits for ranks without a {}file are lower bounds",
                        present, std::max(rows.rows, job.ranks.size()), absent,
                        excluded ? "cut ones are excluded, and " : "", excluded ? "whole " : ""));
    add_files(facts, trust);
    add_undescribed(facts, trust);
    add_assumed(facts, trust);
    add_clocks(job, facts.get<AlignedClocks>(), trust);
    if (double lost = share_lost(facts.get<MatchedJob>()); lost > kMostLost)
        warn(trust, fmt::format("{:.0f} % of the collectives are missing on ranks that took part in them, or cannot be "
                                "matched, so waits and prices are unreliable",
                                100 * lost));
    const Stragglers& found = facts.get<Stragglers>();
    if (found.reason.empty() && found.counted.size() < job.steps.size())
        trust.statements.push_back({false, fmt::format("prices are based on {} of {} steps: others were not recorded "
                                                       "by all ranks, were the first of some, have a "
                                                       "clock that was set, or were not read (--steps)",
                                                       found.counted.size(), job.steps.size())});
    if (found.reason.empty() && found.actual_ns > (1 + kGapsMatter) * found.step_ns)
        warn(trust,
             fmt::format(
                 "steps take {}, and {} in the replay: ranks are idle without a recorded cause{}; that counts as "
                 "nothing in the prices, because it may hide waits for something that was not recorded",
                 readable_duration(found.actual_ns), readable_duration(found.step_ns), most_idle(job)));
    return trust;
}

}  // namespace gpuprof::answer
