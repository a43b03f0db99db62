// `rank_collectives`: what the collectives of a distributed job cost beside waiting. One row per kind of group,
// collective and message size; transfer counts from the arrival of the last rank to the first end.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "analyze/facts/stat.h"
#include "analyze/tables/cells.h"
#include "ranks/match/match.h"
#include "ranks/price/rank_waits.h"
#include "ranks/price/replay.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

// In place of a size.
constexpr std::int64_t kVarying = -2;

std::int64_t largest_message(const Job& job, std::span<const std::uint32_t> members) {
    std::int64_t bytes = -1;
    for (std::uint32_t collective : members) bytes = std::max(bytes, job.collectives[collective].bytes);
    return bytes;
}

struct Kind {
    std::vector<std::int64_t> transfers;
    std::uint64_t complete = 0, compared = 0;
    std::uint64_t members = 0;          // whose times can be compared
    MatchRule rule = MatchRule::exact;  // the weakest
    WideSum wait, lateness, bytes;
    std::int64_t longest = 0;
    std::map<std::int32_t, std::uint64_t> last;
};

struct RankCollectivesRow {
    std::string_view group;
    std::int32_t size;
    CollectiveKind collective;
    std::int64_t bytes;  // below 0: unknown
    const Stat& transfer;
    const Kind& kind;
    const std::pair<const std::int32_t, std::uint64_t>* last;  // rank and how often; null if no rank is known
};

constexpr auto kRankCollectivesColumns = columns_of<RankCollectivesRow>({
    {"group", CellType::text, Unit::none, "Description of the groups.", [](auto& r) { return text_cell(r.group); }},
    {"size", CellType::integer, Unit::count, "Ranks of a group.",
     [](auto& r) { return r.size > 0 ? integer(r.size) : kAbsent; }},
    {"collective", CellType::text, Unit::none, "Kind of the collective.",
     [](auto& r) { return text_cell(to_string(r.collective)); }},
    {"bytes", CellType::integer, Unit::bytes,
     "Message size; absent when not recorded. All-to-all: the largest of a rank, on average.",
     [](auto& r) { return r.bytes >= 0 ? integer(r.bytes) : kAbsent; }},
    {"instances", CellType::integer, Unit::count,
     "Collectives, each counted once for all of its ranks; of batches with several ranks, each kernel.",
     [](auto& r) { return r.transfer.count; }},
    {"complete_pct", CellType::real, Unit::percent,
     "Share of them that was found on every rank of the group. Waits of the others are lower bounds.",
     [](auto& r) { return percent(r.kind.complete, r.transfer.count); }},
    {"matched_by", CellType::text, Unit::none,
     "sequence number, order in the step, or order if the group had to be assumed.",
     [](auto& r) { return text_cell(name_of(r.kind.rule)); }},
    {"transfer_p50_ns", CellType::integer, Unit::ns, "Median transfer.", [](auto& r) { return r.transfer.p50; }},
    {"transfer_p95_ns", CellType::integer, Unit::ns, "95th percentile of the transfer.",
     [](auto& r) { return r.transfer.p95; }},
    {"alg_gb_per_s", CellType::real, Unit::gb_per_s, "Message size over the median transfer.",
     [](auto& r) { return r.bytes > 0 && r.transfer.p50 > 0 ? ratio(r.bytes, r.transfer.p50) : kAbsent; }},
    {"wait_mean_ns", CellType::real, Unit::ns,
     "Mean wait of a rank for the last one; absent, like the next two, if no times could be compared.",
     [](auto& r) { return r.kind.members > 0 ? real(r.kind.wait.over(r.kind.members)) : kAbsent; }},
    {"wait_max_ns", CellType::integer, Unit::ns, "Longest wait of a rank.",
     [](auto& r) { return r.kind.members > 0 ? integer(r.kind.longest) : kAbsent; }},
    {"lateness_mean_ns", CellType::real, Unit::ns, "Mean time between the second to last and the last arrival.",
     [](auto& r) { return r.kind.compared > 0 ? real(r.kind.lateness.over(r.kind.compared)) : kAbsent; }},
    {"last_rank", CellType::integer, Unit::none,
     "The rank that arrived last most often, as far as the clocks can tell.",
     [](auto& r) { return r.last == nullptr ? kAbsent : integer(r.last->first); }},
    {"last_pct", CellType::real, Unit::percent, "Share of the instances in which it did.",
     [](auto& r) { return r.last == nullptr ? kAbsent : percent(r.last->second, r.transfer.count); }},
});

Result<ResultTable> rank_collectives_table(const Facts& facts) {
    ResultTable table("rank_collectives", kRankCollectivesColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const JobReplay& replay = facts.get<JobReplay>();
    const RankWaits& waits = facts.get<RankWaits>();
    std::map<std::tuple<std::string, std::int32_t, CollectiveKind, std::int64_t>, Kind> kinds;
    for (std::size_t i = 0; i < matched.instances.size(); ++i) {
        const Instance& instance = matched.instances[i];
        if (instance.count < 2) continue;
        const Job::Collective& first = job.collectives[matched.of(instance).front()];
        const Job::Group& group = job.groups[instance.group];
        // Messages of an all-to-all may differ between ranks, and from one to the next.
        bool varies = first.kind == CollectiveKind::all_to_all && first.bytes >= 0;
        Kind& to = kinds[{group.description, group.size, first.kind, varies ? kVarying : first.bytes}];
        if (varies) to.bytes.add(largest_message(job, matched.of(instance)));
        for (std::uint32_t collective : matched.owners(instance)) {
            if (!waits.known[collective]) continue;
            to.wait.add(waits.wait[collective]);
            to.longest = std::max(to.longest, waits.wait[collective]);
            ++to.members;
        }
        to.transfers.push_back(least_transfer(matched, instance, replay.recorded));
        to.complete += instance.complete;
        to.rule = std::max(to.rule, instance.rule);
        if (waits.lateness[i]) {
            to.lateness.add(*waits.lateness[i]);
            ++to.compared;
        }
        if (waits.last[i] != kNone) ++to.last[job.ranks[job.collectives[waits.last[i]].rank].rank];
    }
    for (auto& [key, kind] : kinds) {
        const auto& [description, size, collective, key_bytes] = key;
        Stat stat = stat_of(kind.transfers);
        std::int64_t bytes = key_bytes == kVarying ? std::llround(kind.bytes.over(stat.count)) : key_bytes;
        auto last = std::max_element(kind.last.begin(), kind.last.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        table.add(kRankCollectivesColumns,
                  {description, size, collective, bytes, stat, kind, last == kind.last.end() ? nullptr : &*last});
    }
    if (matched.uncertain > 0)
        table.notes.push_back(
            std::to_string(matched.uncertain) +
            " records without sequence numbers were not matched: some of a step were lost, or the pauses "
            "between them are not those of the other ranks.");
    if (matched.shared > 0)
        table.notes.push_back(std::to_string(matched.shared) +
                              " records were not matched: several groups have their group's name, and its ranks were "
                              "not recorded.");
    if (matched.undescribed > 0)
        table.notes.push_back(std::to_string(matched.undescribed) +
                              " collectives were matched with no other rank, because their kernels name no group (see "
                              "the table losses).");
    if (matched.mismatched > 0)
        table.notes.push_back(std::to_string(matched.mismatched) +
                              " records contradict the others of their collective and were skipped.");
    return table;
}

}  // namespace

const Analysis kRankCollectives{"rank_collectives",
                                "",
                                "Collectives of a distributed job: transfer, waiting, and who comes last.",
                                kRankCollectivesColumns,
                                rank_collectives_table,
                                {.of_job = true}};

}  // namespace gpuprof::ranks
