#include "ranks/price/peers.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "analyze/facts/facts.h"
#include "core/base/parallel.h"
#include "ranks/price/quantile.h"
#include "ranks/price/stages.h"
#include "ranks/reduce/rank_work.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// How a collective looks to its rank.
struct Shape {
    std::int64_t description = -1;  // number of its group's; -1: it has no group
    std::int64_t ranks = 0;         // in its group
    CollectiveKind kind = CollectiveKind::unknown;
    std::int64_t pattern = -1;  // of sends and receives: whom they are with
    std::int64_t place = 0;     // of sends and receives: in the group, unless it is a ring
    std::int64_t bytes = 0;     // without a group
    auto operator<=>(const Shape&) const = default;
};
constexpr std::size_t kKinds = static_cast<std::size_t>(CollectiveKind::send_recv) + 1;
// Collectives that a thread handles at once.
constexpr std::size_t kEntriesPerTask = 4096;

class PeerFinder {
public:
    PeerFinder(const Job& job, const MatchedJob& matched, const JobReplay& replay, const JobStages& stages)
        : job_(job), matched_(matched), replay_(replay), stages_(stages) {}

    Peers find() {
        peers_.times = replay_.recorded;
        peers_.by_peers.assign(job_.collectives.size(), false);
        peers_.role.assign(job_.collectives.size(), 0);
        place_all();
        find_cells();
        find_own_times();
        set_usual_transfers(job_, matched_, replay_, peers_);
        compare_steps();
        find_lateness();
        peers_.order = replay_.order_with(job_, matched_, peers_.times);
        return std::move(peers_);
    }

private:
    struct Place {
        std::uint32_t role, shape;
        std::int64_t step, turn;  // its index among those of its shape in the step
        auto operator<=>(const Place&) const = default;
    };

    std::uint32_t number_of(const Job::Collective& collective) {
        auto number = [&] {
            return shapes_.try_emplace(shape_of(collective), static_cast<std::uint32_t>(shapes_.size())).first->second;
        };
        if (collective.group == kNone || collective.is_pair()) return number();
        std::uint32_t& known = shape_in_group_[collective.group * kKinds + static_cast<std::size_t>(collective.kind)];
        if (known == kNone) known = number();
        return known;
    }

    void number_descriptions() {
        std::map<std::string, std::int64_t> numbers;
        for (const Job::Group& group : job_.groups)
            description_.push_back(
                numbers.try_emplace(group.description, static_cast<std::int64_t>(numbers.size())).first->second);
        shape_in_group_.assign(job_.groups.size() * kKinds, kNone);
    }

    // Equal for those that send to and receive from ranks as far away in the group.
    std::int64_t pattern_of(const Job::Collective& collective) {
        const Job::Group& group = job_.groups[collective.group];
        std::int32_t own = job_.ranks[collective.rank].rank;
        std::vector<std::int64_t> pattern;
        for (const Job::Transfer& transfer : job_.transfers_of(collective)) {
            bool sends = transfer.from_rank == own;
            std::int64_t away = place_in(group, sends ? transfer.to_rank : transfer.from_rank) - place_in(group, own);
            auto size = static_cast<std::int64_t>(std::max<std::size_t>(group.ranks.size(), 1));
            pattern.insert(pattern.end(), {(away + size) % size, sends});
        }
        return patterns_.try_emplace(std::move(pattern), static_cast<std::int64_t>(patterns_.size())).first->second;
    }
    static std::int64_t place_in(const Job::Group& group, std::int32_t rank) {
        return std::lower_bound(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin();
    }

    Shape shape_of(const Job::Collective& collective) {
        if (collective.group == kNone) return {.kind = collective.kind, .bytes = collective.bytes};
        const Job::Group& group = job_.groups[collective.group];
        Shape shape{.description = description_[collective.group], .ranks = group.size, .kind = collective.kind};
        if (collective.is_pair()) shape.pattern = pattern_of(collective);
        if (collective.is_pair() && !stages_.ring[collective.group])
            shape.place = place_in(group, job_.ranks[collective.rank].rank);
        return shape;
    }

    void place_all() {
        places_.resize(job_.collectives.size());
        number_descriptions();
        for (const Job::Rank& rank : job_.ranks)
            for (std::uint32_t i = rank.first, end = rank.first + rank.collectives, next = i; i < end; i = next) {
                std::map<std::uint32_t, std::int64_t> turns;
                for (; next < end && job_.collectives[next].step == job_.collectives[i].step; ++next) {
                    std::uint32_t shape = number_of(job_.collectives[next]);
                    places_[next] = {0, shape, job_.collectives[next].step, turns[shape]++};
                }
                std::vector<std::int64_t> signature;
                for (auto [shape, many] : turns) signature.insert(signature.end(), {shape, many});
                std::uint32_t role =
                    roles_.try_emplace(signature, static_cast<std::uint32_t>(roles_.size())).first->second;
                for (std::uint32_t k = i; k < next; ++k) places_[k].role = peers_.role[k] = role;
            }
    }

    void find_own_times() {
        JobTimes& times = peers_.times;
        const RankWork work(job_, replay_.recorded);
        const After usual[] = {
            {replay_.recorded.follows, times.own, times.follows,
             [&](std::uint32_t collective, std::uint32_t from) { return work.to_arrival(from, collective); }},
            {replay_.recorded.wait_before, times.overlapped, times.wait_before,
             [&](std::uint32_t collective, std::uint32_t from) { return work.to_wait(from, collective); }},
            {replay_.recorded.waited_for, times.lead, times.waited_for,
             [this](std::uint32_t collective, std::uint32_t from) { return lead_after(collective, from); }}};
        // First the rank's own other steps, then, where there are enough, the peers.
        std::vector<Sorted> sorted(job_.collectives.size());
        for (std::uint32_t i = 0; i < sorted.size(); ++i)
            sorted[i] = {pack(job_.collectives[i].rank, places_[i].role), pack(places_[i].shape, places_[i].turn), i};
        for (const Job::Rank& rank : job_.ranks)
            std::sort(sorted.begin() + rank.first, sorted.begin() + rank.first + rank.collectives);
        set_usual_times(sorted, usual, 3, false);
        std::vector<std::uint32_t> steps = numbered_steps();
        for (std::uint32_t i = 0; i < sorted.size(); ++i)
            sorted[i] = {pack(places_[i].role, places_[i].shape), pack(steps[i], places_[i].turn), i};
        std::sort(sorted.begin(), sorted.end());
        set_usual_times(sorted, usual, kFewestPeers, true);
    }

    // Collectives with equal keys are adjacent.
    struct Sorted {
        std::uint64_t high, low;
        std::uint32_t collective;
        auto operator<=>(const Sorted&) const = default;
        bool equals(const Sorted& other) const { return high == other.high && low == other.low; }
    };
    static std::uint64_t pack(std::uint64_t high, std::int64_t low) {
        return high << 32 | (static_cast<std::uint64_t>(low) & 0xFFFFFFFFu);
    }
    // By collective: equal for equal steps.
    std::vector<std::uint32_t> numbered_steps() const {
        std::map<std::int64_t, std::uint32_t> numbers;
        std::vector<std::uint32_t> found(job_.collectives.size());
        for (std::uint32_t i = 0; i < found.size(); ++i)
            found[i] =
                i > 0 && places_[i].step == places_[i - 1].step
                    ? found[i - 1]
                    : numbers.try_emplace(places_[i].step, static_cast<std::uint32_t>(numbers.size())).first->second;
        return found;
    }

    struct After;
    void set_usual_times(const std::vector<Sorted>& sorted, std::span<const After> usual, std::size_t fewest,
                         bool by_peers) {
        std::vector<std::size_t> tasks{0};  // where they begin: never between equals
        for (std::size_t i = 1; i < sorted.size(); ++i)
            if (i - tasks.back() >= kEntriesPerTask && !sorted[i].equals(sorted[i - 1])) tasks.push_back(i);
        tasks.push_back(sorted.size());
        run_parallel(tasks.size() - 1, default_threads(), [&](std::size_t task, unsigned) {
            std::vector<std::uint32_t> equals;
            for (std::size_t begin = tasks[task], end = begin; begin < tasks[task + 1]; begin = end) {
                equals.clear();
                while (end < sorted.size() && sorted[end].equals(sorted[begin]))
                    equals.push_back(sorted[end++].collective);
                if (equals.size() < fewest) continue;
                for (const After& after : usual) set_usual_time(after, equals, by_peers);
            }
        });
    }

    // What happens some time after the end of another collective: the arrival after the one that it follows, the wait for it after
    // the wait before, its launch after the one that the host waited for.
    struct After {
        const std::vector<std::uint32_t>& from;  // as recorded
        std::vector<DurNs>& time;                // to set: as most equals have it, and from where
        std::vector<std::uint32_t>& usual_from;
        std::function<std::optional<DurNs>(std::uint32_t collective, std::uint32_t from)> recorded;
    };

    // Where a time counts from, in terms that hold for every rank.
    struct Base {
        std::int64_t shape = -1, turn = -1;
        std::int64_t steps_before = INT64_MAX;
        bool operator==(const Base&) const = default;
        bool is_known() const { return shape >= 0; }
        // The fewest steps back first, and the latest in its step.
        auto order() const { return std::tuple(steps_before, -turn, shape); }
    };
    Base base_of(std::uint32_t i, std::uint32_t from) const {
        if (from == kNone) return {};
        return {places_[from].shape, places_[from].turn, places_[i].step - places_[from].step};
    }
    std::uint32_t find_base(std::uint32_t i, const Base& what) const {
        const Job::Rank& rank = job_.ranks[job_.collectives[i].rank];
        std::uint32_t k = i + 1;  // what it waits for may have begun later
        while (k < rank.first + rank.collectives && places_[k].step == places_[i].step) ++k;
        while (k-- > rank.first) {
            if (places_[i].step - places_[k].step > what.steps_before) return kNone;
            if (k != i && places_[k].shape == what.shape && places_[k].turn == what.turn &&
                places_[i].step - places_[k].step == what.steps_before)
                return k;
        }
        return kNone;
    }

    // Of equally many, the one that is the fewest steps back, and the latest in its step.
    Base most_frequent_base(const After& after, std::span<const std::uint32_t> equals) const {
        std::vector<std::pair<Base, std::size_t>> counts;  // few
        for (std::uint32_t collective : equals) {
            Base base = base_of(collective, after.from[collective]);
            auto known =
                std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == base; });
            if (known == counts.end()) known = counts.insert(counts.end(), {base, 0});
            ++known->second;
        }
        return std::min_element(counts.begin(), counts.end(),
                                [](const auto& a, const auto& b) {
                                    return a.second != b.second ? a.second > b.second
                                                                : a.first.order() < b.first.order();
                                })
            ->first;
    }

    // Where the times of most equals count from, and the median of these times. One that counts from another collective,
    // because it is late or early, would count from there as they do.
    void set_usual_time(const After& after, std::span<const std::uint32_t> equals, bool by_peers) {
        const Base most = most_frequent_base(after, equals);
        std::vector<DurNs> times;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // collective, from where
        for (std::uint32_t collective : equals) {
            std::uint32_t own = after.from[collective];
            bool none = !most.is_known();
            std::uint32_t from = kNone;
            if (!none) from = base_of(collective, own) == most ? own : find_base(collective, most);
            std::optional<DurNs> time = from == kNone && !none ? std::nullopt : after.recorded(collective, from);
            if (!time) continue;
            found.emplace_back(collective, from);
            times.push_back(*time);
        }
        if (times.empty()) return;
        DurNs median = median_of(times);
        for (auto [collective, from] : found) {
            after.time[collective] = median;
            after.usual_from[collective] = from;
            if (by_peers) peers_.by_peers[collective] = true;
        }
    }

    std::optional<DurNs> lead_after(std::uint32_t collective, std::uint32_t from) const {
        std::uint32_t own = replay_.recorded.waited_for[collective];
        if (own == kNone || from == kNone) return std::nullopt;
        return std::max<DurNs>(
            job_.collectives[collective].lead + job_.collectives[own].span.end - job_.collectives[from].span.end, 0);
    }

    // The parts of whole steps: they do not depend on what followed what.
    void compare_steps() {
        std::vector<std::uint32_t> roles(job_.rank_steps.size(), kNone);
        for (std::uint32_t i = 0; i < job_.collectives.size(); ++i)
            if (cells_[i] != kNone) roles[cells_[i]] = peers_.role[i];
        for (std::uint32_t i = 0; i < roles.size(); ++i)
            if (roles[i] != kNone) peers_.equal_steps[{job_.rank_steps[i].step, roles[i]}].push_back(i);
        std::vector<DurNs> spreads;
        peers_.excess.resize(job_.rank_steps.size());
        peers_.has_peers.assign(job_.rank_steps.size(), false);
        for (const auto& [key, steps] : peers_.equal_steps) {
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
    void find_lateness() {
        peers_.late.resize(job_.rank_steps.size());
        std::vector<DurNs> input(job_.rank_steps.size(), 0);
        for (std::uint32_t i = 0; i < job_.collectives.size(); ++i) {
            std::uint32_t from = peers_.times.waited_for[i];
            std::uint32_t cell = cells_[i];
            if (cell == kNone || from == kNone || !peers_.by_peers[i]) continue;
            input[cell] = std::max(input[cell], job_.collectives[i].lead_input);
            DurNs more = lead_after(i, from).value_or(0) - peers_.times.lead[i];
            peers_.late[cell].host = std::max(peers_.late[cell].host, more);
        }
        for (const auto& [key, steps] : peers_.equal_steps) {
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
    void find_cells() {
        cells_.resize(job_.collectives.size());
        for (std::uint32_t i = 0; i < cells_.size(); ++i) {
            const Job::Collective& collective = job_.collectives[i];
            if (i > 0 && job_.collectives[i - 1].rank == collective.rank &&
                job_.collectives[i - 1].step == collective.step) {
                cells_[i] = cells_[i - 1];
                continue;
            }
            const Job::RankStep* step = job_.find_step(collective.rank, collective.step);
            cells_[i] = step == nullptr ? kNone : static_cast<std::uint32_t>(step - job_.rank_steps.data());
        }
    }

    const Job& job_;
    const MatchedJob& matched_;
    const JobReplay& replay_;
    const JobStages& stages_;
    Peers peers_;
    std::vector<Place> places_;
    std::map<Shape, std::uint32_t> shapes_;
    std::map<std::vector<std::int64_t>, std::int64_t> patterns_;
    std::vector<std::int64_t> description_;      // by group: equal for equal texts
    std::vector<std::uint32_t> shape_in_group_;  // by group and kind; kNone: not numbered yet
    std::vector<std::uint32_t> cells_;  // by collective: index in Job::rank_steps; kNone: its step was not recorded
    std::map<std::vector<std::int64_t>, std::uint32_t> roles_;
};

}  // namespace

Peers Peers::make(const Facts& facts) {
    return PeerFinder(facts.get<Job>(), facts.get<MatchedJob>(), facts.get<JobReplay>(), facts.get<JobStages>()).find();
}

}  // namespace gpuprof::ranks
