#include "ranks/match/match.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "analyze/facts/facts.h"
#include "core/base/parallel.h"
#include "ranks/match/match_order.h"

namespace gpuprof::inline ranks {

void Exchanges::link(std::uint32_t a, std::uint32_t b) {
    links_.emplace_back(a, b);
    links_.emplace_back(b, a);
}

bool Exchanges::is_complete(std::span<const Link> links) const {
    return links.size() == job_.transfers_of(job_.collectives[links.front().first]).size();
}

void Exchanges::each(const Visit& visit) {
    std::sort(links_.begin(), links_.end());
    auto links_of = [&](std::uint32_t collective) {
        auto [first, last] = std::equal_range(links_.begin(), links_.end(), Link{collective, 0},
                                              [](const Link& a, const Link& b) { return a.first < b.first; });
        return std::span<const Link>(first, last);
    };
    auto has_one_partner = [](std::span<const Link> links) { return links.front().second == links.back().second; };
    std::vector<std::uint32_t> members;
    for (std::size_t begin = 0; begin < links_.size();) {
        std::uint32_t collective = links_[begin].first, other = links_[begin].second;
        std::span<const Link> links = links_of(collective), others = links_of(other);
        begin += links.size();
        bool pair = has_one_partner(links) && has_one_partner(others);
        if (pair && other < collective) continue;
        members = {collective};
        for (const Link& link : links)
            if (members.size() == 1 || members.back() != link.second) members.push_back(link.second);
        visit(members, is_complete(links) && (!pair || is_complete(others)), pair);
    }
}

namespace {

struct Keyed {
    OrderKey key;
    std::uint32_t collective;
    MatchRule rule;
    std::uint16_t part = kWhole;  // as in OrderedCollective
    bool is_transfer() const { return key.kind == CollectiveKind::send_recv; }
};

// By key, then by collective. First by group, because most keys differ there.
std::vector<Keyed> sorted(const std::vector<Keyed>& keyed, std::size_t groups) {
    std::vector<std::size_t> begin(groups + 1, 0);
    for (const Keyed& each : keyed) ++begin[each.key.group + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Keyed> found(keyed.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const Keyed& each : keyed) found[next[each.key.group]++] = each;
    run_parallel(groups, default_threads(), [&](std::size_t group, unsigned) {
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(begin[group]),
                  found.begin() + static_cast<std::ptrdiff_t>(begin[group + 1]), [](const Keyed& a, const Keyed& b) {
                      return a.key != b.key ? a.key < b.key : a.collective < b.collective;
                  });
    });
    return found;
}

// By group: numbers that a rank has more than once, as replays of a CUDA graph repeat what was captured.
using Repeats = std::vector<std::set<std::int64_t>>;
Repeats repeated_numbers(const Job& job) {
    Repeats repeats(job.groups.size());
    std::vector<std::int64_t> last(job.groups.size(), 0);
    std::vector<const Job::Rank*> seen(job.groups.size(), nullptr);  // the rank that `last` is of
    for (const Job::Rank& rank : job.ranks) {
        std::set<std::uint32_t> doubtful;  // repeated, or only out of order
        std::span collectives(job.collectives.data() + rank.first, rank.collectives);
        for (const Job::Collective& collective : collectives) {
            if (collective.group == kNone || !collective.seq || collective.is_pair()) continue;
            if (seen[collective.group] == &rank && *collective.seq <= last[collective.group])
                doubtful.insert(collective.group);
            seen[collective.group] = &rank;
            last[collective.group] = *collective.seq;
        }
        std::set<std::tuple<std::uint32_t, std::int64_t, CollectiveKind>> numbers;
        for (const Job::Collective& collective : collectives)
            if (!doubtful.empty() && doubtful.contains(collective.group) && collective.seq && !collective.is_pair() &&
                !numbers.emplace(collective.group, *collective.seq, collective.kind).second)
                repeats[collective.group].insert(*collective.seq);
    }
    return repeats;
}

std::vector<Keyed> keys_of(const Job& job, MatchedJob& matched) {
    std::vector<Keyed> keyed;
    Repeats repeats = repeated_numbers(job);
    for (const Job::Rank& rank : job.ranks) {
        std::map<OrderKey, std::int64_t> places;  // how many of this key without a number came before
        for (std::uint32_t i = rank.first; i < rank.first + rank.collectives; ++i) {
            const Job::Collective& collective = job.collectives[i];
            if (collective.group == kNone) {
                ++matched.undescribed;
                continue;
            }
            if (job.groups[collective.group].shared) {
                ++matched.shared;
                continue;
            }
            bool numbered = collective.seq && !collective.is_pair(),
                 repeated = numbered && repeats[collective.group].contains(*collective.seq);
            if (numbered && !repeated) {
                keyed.push_back({{.group = collective.group, .seq = *collective.seq}, i, MatchRule::exact});
                continue;
            }
            bool assumed = job.groups[collective.group].assumed;
            if (collective.step < 0 || (assumed && collective.is_pair())) continue;
            auto add = [&](OrderKey key, MatchRule rule, std::uint16_t part) {
                key.place = places[key]++;
                keyed.push_back({key, i, rule, part});
            };
            OrderKey key{.group = collective.group,
                         .by_order = true,
                         .bytes = assumed ? collective.bytes : -1,
                         .seq = repeated ? *collective.seq : -1,
                         .kind = collective.kind,
                         .step = collective.step};
            if (!collective.is_pair()) add(key, assumed ? MatchRule::guessed : MatchRule::order, kWhole);
            std::uint16_t part = 0;
            for (const Job::Transfer& transfer : job.transfers_of(collective)) {
                key.from = transfer.from_rank;
                key.to = transfer.to_rank;
                if (transfer.from_rank >= 0 && transfer.to_rank >= 0)
                    add(key, MatchRule::order, part);
                else
                    ++matched.uncertain;
                ++part;
            }
        }
    }
    return sorted(keyed, job.groups.size());
}

// Rows whose order does not tell which collective they are of are left alone; returns their number. Of a batch that may be
// only some transfers.
std::size_t drop_uncertain(const Job& job, std::vector<Keyed>& keyed) {
    std::vector<OrderedCollective> numbered, ordered;
    for (const Keyed& each : keyed)
        (each.rule == MatchRule::exact ? numbered : ordered).push_back({each.key, each.collective, each.part});
    if (ordered.empty()) return 0;
    std::vector<bool> trusted = trusted_orders(job, ordered, whole_recordings(job, numbered));
    std::size_t at = 0, dropped = 0;
    std::set<std::uint32_t> batches;
    std::erase_if(keyed, [&](const Keyed& each) {
        if (each.rule == MatchRule::exact || trusted[at++]) return false;
        dropped += !each.is_transfer() || batches.insert(each.collective).second;
        return true;
    });
    return dropped;
}

// How many records an assumed group of all ranks has to have in a step: one of each rank that recorded it. Absent if those
// are no majority; then nothing speaks for the assumption.
class AssumedSizes {
public:
    explicit AssumedSizes(const Job& job) : job_(job), recorded_by_(job.recorded_by()) {}
    std::optional<std::uint32_t> of(const Job::Collective& collective) const {
        auto at = std::lower_bound(job_.steps.begin(), job_.steps.end(), collective.step);
        if (at == job_.steps.end() || *at != collective.step) return std::nullopt;
        std::uint32_t ranks = recorded_by_[static_cast<std::size_t>(at - job_.steps.begin())];
        bool most = 2 * static_cast<std::int64_t>(ranks) > job_.groups[collective.group].size;
        return most ? std::optional(ranks) : std::nullopt;
    }

private:
    const Job& job_;
    std::vector<std::uint32_t> recorded_by_;
};

// The two ends of a transfer; returns how many records contradict each other.
std::size_t link_transfer(const Job& job, std::span<const Keyed> ends, Exchanges& exchanges) {
    if (ends.size() < 2) return 0;
    std::int64_t a = bytes_of(job, {ends[0].key, ends[0].collective, ends[0].part}),
                 b = bytes_of(job, {ends[1].key, ends[1].collective, ends[1].part});
    bool two = ends.size() == 2 && job.collectives[ends[0].collective].rank != job.collectives[ends[1].collective].rank;
    if (!two || (a >= 0 && b >= 0 && a != b)) return ends.size();
    exchanges.link(ends[0].collective, ends[1].collective);
    return 0;
}

// Assumed groups of which nothing was matched are other groups than all ranks.
void find_unproven(const Job& job, MatchedJob& matched) {
    matched.unproven.assign(job.groups.size(), false);
    for (std::size_t group = 0; group < job.groups.size(); ++group) matched.unproven[group] = job.groups[group].assumed;
    for (const Instance& instance : matched.instances) matched.unproven[instance.group] = false;
    auto rows = static_cast<std::size_t>(
        std::count_if(job.collectives.begin(), job.collectives.end(), [&](const Job::Collective& collective) {
            return collective.group != kNone && matched.unproven[collective.group] && collective.step >= 0 &&
                   !collective.is_pair();
        }));
    matched.uncertain -= std::min(rows, matched.uncertain);
    matched.undescribed += rows;
}

// Rows that ranks should have, because they recorded the step and are in the group, and those that they lack.
void count_lost(const Job& job, MatchedJob& matched) {
    for (const Instance& instance : matched.instances) {
        matched.expected += matched.owners(instance).size();
        if (instance.complete || instance.rule != MatchRule::exact) continue;
        std::int64_t step = job.collectives[matched.members[instance.first]].step;
        std::size_t should = 0;
        for (std::int32_t number : job.groups[instance.group].ranks)
            should += job.find_step(job.find_rank(number), step) != nullptr;
        if (should <= instance.count) continue;
        matched.expected += should - instance.count;
        matched.lost += should - instance.count;
    }
    matched.expected += matched.uncertain + matched.shared;
    matched.lost += matched.uncertain + matched.shared;
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

void MatchedJob::add(const Instance& instance) {
    for (std::uint32_t collective : owners(instance))
        instance_of[collective] = static_cast<std::uint32_t>(instances.size());
    instances.push_back(instance);
}

MatchedJob MatchedJob::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    MatchedJob matched;
    matched.instance_of.assign(job.collectives.size(), kNone);
    std::vector<Keyed> keyed = keys_of(job, matched);
    matched.uncertain = drop_uncertain(job, keyed);
    const AssumedSizes assumed(job);
    Exchanges exchanges(job);
    for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
        while (end < keyed.size() && keyed[end].key == keyed[begin].key) ++end;
        if (keyed[begin].is_transfer()) {
            matched.mismatched += link_transfer(job, {keyed.data() + begin, end - begin}, exchanges);
            continue;
        }
        const Job::Collective& first = job.collectives[keyed[begin].collective];
        Instance instance{
            static_cast<std::uint32_t>(matched.members.size()), 0, first.group, keyed[begin].rule, false, false};
        for (std::size_t i = begin; i < end; ++i) {
            const Job::Collective& collective = job.collectives[keyed[i].collective];
            bool twice = instance.count > 0 && job.collectives[matched.members.back()].rank == collective.rank;
            bool other =
                collective.kind != first.kind || (has_equal_messages(collective.kind) && collective.bytes >= 0 &&
                                                  first.bytes >= 0 && collective.bytes != first.bytes);
            if (other || twice) {
                ++matched.mismatched;
                continue;
            }
            matched.members.push_back(keyed[i].collective);
            ++instance.count;
        }
        std::int32_t expected = job.groups[first.group].size;
        if (first.group != kNone && job.groups[first.group].assumed && assumed.of(first) != instance.count) {
            matched.uncertain += instance.count;
            matched.members.resize(instance.first);
            continue;
        }
        instance.complete = expected > 0 && instance.count == static_cast<std::uint32_t>(expected);
        matched.add(instance);
    }
    exchanges.each([&](std::span<const std::uint32_t> members, bool complete, bool pair) {
        Instance instance{static_cast<std::uint32_t>(matched.members.size()),
                          static_cast<std::uint32_t>(members.size()),
                          job.collectives[members.front()].group,
                          MatchRule::order,
                          complete,
                          !pair};
        matched.members.insert(matched.members.end(), members.begin(), members.end());
        matched.add(instance);
    });
    find_unproven(job, matched);
    count_lost(job, matched);
    return matched;
}

}  // namespace gpuprof::ranks
