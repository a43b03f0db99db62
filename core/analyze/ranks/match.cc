#include "core/analyze/ranks/match.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/analyze/facts/facts.h"

namespace gpuprof {
namespace {

// Equal for the members of one collective: group, the two ends or -1, and its number, or step and place in it.
using Key = std::array<std::int64_t, 6>;

struct Keyed {
    Key key;
    std::uint32_t sync;
    MatchRule rule;
};

std::vector<Keyed> keys_of(const RankJob& job) {
    std::vector<Keyed> keyed;
    for (const JobRank& rank : job.ranks) {
        std::map<Key, std::int64_t> places;  // how many of this key without a number came before
        for (std::uint32_t i = rank.first; i < rank.first + rank.syncs; ++i) {
            const JobSync& sync = job.syncs[i];
            if (sync.group == kNone) continue;
            if (sync.seq && !sync.is_pair()) {
                keyed.push_back({{sync.group, -1, -1, -1, *sync.seq, 0}, i, MatchRule::exact});
                continue;
            }
            bool assumed = job.groups[sync.group].assumed;
            if (sync.step < 0 || (assumed && sync.is_pair())) continue;
            Key key{sync.group,
                    sync.is_pair() ? sync.from_rank
                    : assumed      ? sync.bytes
                                   : -1,
                    sync.is_pair() ? sync.to_rank : -1,
                    static_cast<std::int64_t>(sync.kind),
                    sync.step,
                    0};
            std::int64_t place = places[key]++;
            key.back() = place;
            keyed.push_back({key, i, assumed ? MatchRule::guessed : MatchRule::order});
        }
    }
    std::sort(keyed.begin(), keyed.end(),
              [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.sync < b.sync; });
    return keyed;
}

// Counted collectives of one group, kind and step; their keys differ in the place only.
bool same_but_place(const Keyed& a, const Keyed& b) {
    return std::equal(a.key.begin(), a.key.end() - 1, b.key.begin());
}

// Where the ranks do not have equally many, one lost some, or its recording begins or ends there: the k-th of one may be
// the next one's k+1st. Such rows are left alone; returns their number.
std::size_t drop_uncertain(const RankJob& job, std::vector<Keyed>& keyed) {
    auto kept = keyed.begin();
    for (auto begin = keyed.begin(), end = begin; begin != keyed.end(); begin = end) {
        std::map<std::uint32_t, std::size_t> counts;  // by rank
        while (end != keyed.end() && same_but_place(*end, *begin)) ++counts[job.syncs[end++->sync].rank];
        bool equal = std::all_of(counts.begin(), counts.end(),
                                 [&](const auto& each) { return each.second == counts.begin()->second; });
        if (equal || begin->rule == MatchRule::exact) kept = kept == begin ? end : std::copy(begin, end, kept);
    }
    auto dropped = static_cast<std::size_t>(keyed.end() - kept);
    keyed.erase(kept, keyed.end());
    return dropped;
}

// Rows that ranks should have, because they recorded the step and are in the group, and those that they lack.
void count_lost(const RankJob& job, MatchedJob& matched) {
    for (const Instance& instance : matched.instances) {
        matched.expected += instance.count;
        if (instance.complete || instance.rule != MatchRule::exact) continue;
        std::int64_t step = job.syncs[matched.members[instance.first]].step;
        std::size_t should = 0;
        for (std::int32_t number : job.groups[instance.group].ranks)
            should += job.find_step(job.find_rank(number), step) != nullptr;
        if (should <= instance.count) continue;
        matched.expected += should - instance.count;
        matched.lost += should - instance.count;
    }
    matched.expected += matched.uncertain;
    matched.lost += matched.uncertain;
}

}  // namespace

std::string_view name_of(MatchRule rule) {
    switch (rule) {
        case MatchRule::exact: return "sequence number";
        case MatchRule::order: return "order in the step";
        case MatchRule::guessed: return "order, group assumed";
    }
    return "";
}

MatchedJob MatchedJob::make(const Facts& facts) {
    const RankJob& job = facts.get<RankJob>();
    MatchedJob matched;
    matched.instance_of.assign(job.syncs.size(), kNone);
    std::vector<Keyed> keyed = keys_of(job);
    matched.uncertain = drop_uncertain(job, keyed);
    for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
        while (end < keyed.size() && keyed[end].key == keyed[begin].key) ++end;
        const JobSync& first = job.syncs[keyed[begin].sync];
        Instance instance{static_cast<std::uint32_t>(matched.members.size()), 0, first.group, keyed[begin].rule, false};
        for (std::size_t i = begin; i < end; ++i) {
            const JobSync& sync = job.syncs[keyed[i].sync];
            bool twice = instance.count > 0 && job.syncs[matched.members.back()].rank == sync.rank;
            if (sync.kind != first.kind || twice) {
                ++matched.mismatched;
                continue;
            }
            matched.members.push_back(keyed[i].sync);
            ++instance.count;
        }
        std::int32_t expected = first.is_pair() ? 2 : job.groups[first.group].size;
        // Without all ranks, an assumed group was none.
        if (first.group != kNone && job.groups[first.group].assumed &&
            instance.count != static_cast<std::uint32_t>(expected)) {
            matched.mismatched += instance.count;
            matched.members.resize(instance.first);
            continue;
        }
        instance.complete = expected > 0 && instance.count == static_cast<std::uint32_t>(expected);
        for (std::uint32_t sync : matched.of(instance))
            matched.instance_of[sync] = static_cast<std::uint32_t>(matched.instances.size());
        matched.instances.push_back(instance);
    }
    count_lost(job, matched);
    return matched;
}

}  // namespace gpuprof
