#include "core/analyze/ranks/peers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "core/analyze/facts/facts.h"
#include "core/analyze/ranks/quantile.h"

namespace gpuprof {
namespace {

// How a collective looks to its rank: kind of group, kind, direction, and place in the group if that is a pipeline.
using Shape = std::array<std::int64_t, 5>;

class PeerFinder {
public:
    PeerFinder(const RankJob& job, const MatchedJob& matched, const JobReplay& replay)
        : job_(job), matched_(matched), replay_(replay) {}

    Peers find() {
        peers_.times = replay_.recorded;
        peers_.by_peers.assign(job_.syncs.size(), false);
        peers_.role.assign(job_.syncs.size(), 0);
        place_all();
        settle_own();
        settle_transfers();
        settle_steps();
        settle_lateness();
        peers_.order = replay_.order_with(job_, matched_, peers_.times);
        return std::move(peers_);
    }

private:
    struct Place {
        std::uint32_t role, shape;
        std::int64_t step, turn;  // the how-manieth of its shape in the step
        auto operator<=>(const Place&) const = default;
    };

    std::uint32_t number_of(std::map<Shape, std::uint32_t>& numbers, const Shape& shape) {
        return numbers.try_emplace(shape, static_cast<std::uint32_t>(numbers.size())).first->second;
    }

    Shape shape_of(const JobSync& sync) {
        if (sync.group == kNone) return {-1, static_cast<std::int64_t>(sync.kind), 0, 0, sync.bytes};
        const JobGroup& group = job_.groups[sync.group];
        auto description =
            static_cast<std::int64_t>(descriptions_.try_emplace(group.description, descriptions_.size()).first->second);
        std::int32_t own = job_.ranks[sync.rank].rank;
        std::int64_t direction = !sync.is_pair() ? 0 : sync.from_rank == own ? 1 : 2;
        std::int64_t stage = 0;
        if (sync.is_pair()) stage = std::lower_bound(group.ranks.begin(), group.ranks.end(), own) - group.ranks.begin();
        return {description, group.size, static_cast<std::int64_t>(sync.kind), direction, stage};
    }

    void place_all() {
        places_.resize(job_.syncs.size());
        for (const JobRank& rank : job_.ranks)
            for (std::uint32_t i = rank.first, end = rank.first + rank.syncs, next = i; i < end; i = next) {
                std::map<std::uint32_t, std::int64_t> turns;
                for (; next < end && job_.syncs[next].step == job_.syncs[i].step; ++next) {
                    std::uint32_t shape = number_of(shapes_, shape_of(job_.syncs[next]));
                    places_[next] = {0, shape, job_.syncs[next].step, turns[shape]++};
                }
                std::vector<std::int64_t> signature;
                for (auto [shape, many] : turns) signature.insert(signature.end(), {shape, many});
                std::uint32_t role =
                    roles_.try_emplace(signature, static_cast<std::uint32_t>(roles_.size())).first->second;
                for (std::uint32_t k = i; k < next; ++k) places_[k].role = peers_.role[k] = role;
            }
    }

    void settle_own() {
        JobTimes& times = peers_.times;
        After own{replay_.recorded.follows, times.own, times.follows,
                  [this](std::uint32_t sync, std::uint32_t from) { return own_after(sync, from); }};
        After lead{replay_.recorded.waited_for, times.lead, times.waited_for,
                   [this](std::uint32_t sync, std::uint32_t from) { return lead_after(sync, from); }};
        std::vector<std::uint32_t> order(job_.syncs.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        auto settle = [&](auto&& key, std::size_t fewest, bool by_peers) {
            std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
                auto ka = key(a), kb = key(b);
                return ka != kb ? ka < kb : a < b;
            });
            for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
                while (end < order.size() && key(order[end]) == key(order[begin])) ++end;
                if (end - begin < fewest) continue;
                std::span<const std::uint32_t> equals(order.data() + begin, end - begin);
                settle_equals(own, equals, by_peers);
                settle_equals(lead, equals, by_peers);
            }
        };
        // First the rank's own other steps, then, where there are enough, the peers.
        settle(
            [&](std::uint32_t i) {
                return std::tuple(job_.syncs[i].rank, places_[i].role, places_[i].shape, places_[i].turn);
            },
            3, false);
        settle([&](std::uint32_t i) { return places_[i]; }, kFewestPeers, true);
    }

    // A sync begins some time after the end of another one: its own time after the one that it follows, its launch after
    // the one that the host waited for.
    struct After {
        const std::vector<std::uint32_t>& from;  // as recorded
        std::vector<DurNs>& time;                // to set: as most equals have it, and from where
        std::vector<std::uint32_t>& settled;
        std::function<std::optional<DurNs>(std::uint32_t sync, std::uint32_t from)> recorded;
    };

    // Where a time counts from, in terms that hold for every rank: shape and turn, and how many steps before.
    using Base = std::array<std::int64_t, 3>;
    Base base_of(std::uint32_t i, std::uint32_t from) const {
        if (from == kNone) return {-1, -1, -1};
        return {places_[from].shape, places_[from].turn, places_[i].step - places_[from].step};
    }
    std::uint32_t find_base(std::uint32_t i, const Base& what) const {
        const JobRank& rank = job_.ranks[job_.syncs[i].rank];
        for (std::uint32_t k = i + 1; k-- > rank.first;) {
            if (places_[i].step - places_[k].step > what[2]) return kNone;
            if (k != i && places_[k].shape == what[0] && places_[k].turn == what[1] &&
                places_[i].step - places_[k].step == what[2])
                return k;
        }
        return kNone;
    }

    // Where the times of most equals count from, and the median of these times. One that counts from another sync,
    // because it is late or early, would count from there as they do.
    void settle_equals(const After& after, std::span<const std::uint32_t> equals, bool by_peers) {
        std::map<Base, std::size_t> counts;
        for (std::uint32_t sync : equals) ++counts[base_of(sync, after.from[sync])];
        const Base most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                              return a.second < b.second;
                          })->first;
        std::vector<DurNs> times;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> settled;  // sync, from where
        for (std::uint32_t sync : equals) {
            std::uint32_t own = after.from[sync];
            std::uint32_t from = base_of(sync, own) == most ? own : find_base(sync, most);
            std::optional<DurNs> time = from == kNone ? std::nullopt : after.recorded(sync, from);
            if (!time) continue;
            settled.emplace_back(sync, from);
            times.push_back(*time);
        }
        if (times.empty()) return;
        DurNs median = median_of(times);
        for (auto [sync, from] : settled) {
            after.time[sync] = median;
            after.settled[sync] = from;
            peers_.by_peers[sync] = by_peers;
        }
    }

    std::optional<DurNs> own_after(std::uint32_t sync, std::uint32_t from) const {
        if (from == replay_.recorded.follows[sync]) return replay_.recorded.own[sync];
        DurNs whole = job_.syncs[sync].span.start - job_.syncs[from].span.end;
        return std::max<DurNs>(whole - job_.syncs[sync].own.unknown, 0);
    }
    std::optional<DurNs> lead_after(std::uint32_t sync, std::uint32_t from) const {
        std::uint32_t own = replay_.recorded.waited_for[sync];
        if (own == kNone) return std::nullopt;
        return std::max<DurNs>(job_.syncs[sync].lead + job_.syncs[own].span.end - job_.syncs[from].span.end, 0);
    }

    // The parts of whole steps: they do not depend on what followed what.
    void settle_steps() {
        std::vector<std::uint32_t> roles(job_.rank_steps.size(), kNone);
        for (std::uint32_t i = 0; i < job_.syncs.size(); ++i)
            if (std::optional<std::size_t> cell = cell_of(i)) roles[*cell] = peers_.role[i];
        for (std::uint32_t i = 0; i < roles.size(); ++i)
            if (roles[i] != kNone) peers_.alike[{job_.rank_steps[i].step, roles[i]}].push_back(i);
        std::vector<DurNs> spreads;
        peers_.excess.resize(job_.rank_steps.size());
        peers_.has_peers.assign(job_.rank_steps.size(), false);
        for (const auto& [key, steps] : peers_.alike) {
            if (steps.size() < kFewestPeers) continue;
            for (DurNs OwnTime::*part :
                 {&OwnTime::compute, &OwnTime::copy, &OwnTime::input, &OwnTime::host, &OwnTime::unknown}) {
                std::vector<DurNs> values;
                for (std::uint32_t i : steps) values.push_back(job_.rank_steps[i].own.*part);
                DurNs median = median_of(values);
                for (std::uint32_t i : steps) peers_.excess[i].*part = job_.rank_steps[i].own.*part - median;
            }
            for (std::uint32_t i : steps) peers_.has_peers[i] = true;
            std::vector<DurNs> own;
            for (std::uint32_t i : steps) own.push_back(job_.rank_steps[i].own.known());
            std::sort(own.begin(), own.end());
            spreads.push_back(own[65 * own.size() / 100] - own[35 * own.size() / 100]);
        }
        if (!spreads.empty()) peers_.spread = median_of(spreads);
    }

    // The longest delay of a launch in each step. It counts as input as far as the host waited for that longer than its
    // peers.
    void settle_lateness() {
        peers_.late.resize(job_.rank_steps.size());
        std::vector<DurNs> input(job_.rank_steps.size(), 0);
        for (std::uint32_t i = 0; i < job_.syncs.size(); ++i) {
            std::uint32_t from = peers_.times.waited_for[i];
            std::optional<std::size_t> cell = cell_of(i);
            if (!cell || from == kNone || !peers_.by_peers[i]) continue;
            input[*cell] = std::max(input[*cell], job_.syncs[i].lead_input);
            DurNs more = lead_after(i, from).value_or(0) - peers_.times.lead[i];
            peers_.late[*cell].host = std::max(peers_.late[*cell].host, more);
        }
        for (const auto& [key, steps] : peers_.alike) {
            if (steps.size() < kFewestPeers) continue;
            std::vector<DurNs> values;
            for (std::uint32_t i : steps) values.push_back(input[i]);
            DurNs median = median_of(values);
            for (std::uint32_t i : steps) {
                OwnTime& late = peers_.late[i];
                late.input = std::clamp<DurNs>(input[i] - median, 0, late.host);
                late.host -= late.input;
            }
        }
    }
    std::optional<std::size_t> cell_of(std::uint32_t sync) const {
        const JobRankStep* step = job_.find_step(job_.syncs[sync].rank, job_.syncs[sync].step);
        if (step == nullptr) return std::nullopt;
        return static_cast<std::size_t>(step - job_.rank_steps.data());
    }

    // Equal transfers: of one kind, size of group and message, within a host or between hosts. Without the files of all
    // ranks, a transfer may be a wait for one of the others.
    void settle_transfers() {
        std::map<std::array<std::int64_t, 4>, std::vector<std::uint32_t>> equal;
        for (std::uint32_t i = 0; i < matched_.instances.size(); ++i) {
            const Instance& instance = matched_.instances[i];
            if (instance.count < 2 || !instance.complete) continue;
            const JobSync& first = job_.syncs[matched_.of(instance).front()];
            bool between = false;
            for (std::uint32_t sync : matched_.of(instance))
                between |= job_.ranks[job_.syncs[sync].rank].clock != job_.ranks[first.rank].clock;
            equal[{static_cast<std::int64_t>(first.kind), instance.count, first.bytes, between}].push_back(i);
        }
        for (auto& [key, instances] : equal) {
            std::vector<DurNs> transfers;
            for (std::uint32_t i : instances) transfers.push_back(recorded_transfer(i));
            DurNs median = median_of(transfers);
            for (std::uint32_t i : instances) {
                DurNs change = median - recorded_transfer(i);
                for (std::uint32_t sync : matched_.of(matched_.instances[i])) {
                    if (replay_.waits[sync])
                        peers_.times.transfer[sync] = std::max<DurNs>(peers_.times.transfer[sync] + change, 0);
                }
            }
        }
    }
    DurNs recorded_transfer(std::uint32_t instance) const {
        return least_transfer(matched_, matched_.instances[instance], replay_.recorded);
    }

    const RankJob& job_;
    const MatchedJob& matched_;
    const JobReplay& replay_;
    Peers peers_;
    std::vector<Place> places_;
    std::map<Shape, std::uint32_t> shapes_;
    std::map<std::string, std::size_t> descriptions_;
    std::map<std::vector<std::int64_t>, std::uint32_t> roles_;
};

}  // namespace

Peers Peers::make(const Facts& facts) {
    return PeerFinder(facts.get<RankJob>(), facts.get<MatchedJob>(), facts.get<JobReplay>()).find();
}

}  // namespace gpuprof
