#include "ranks/match/match_order.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr std::size_t kMostReferences = 3;

// Records of one group, kind and direction in one step.
struct Bucket {
    std::size_t begin = 0, end = 0;
    std::int64_t step = 0;
    std::map<std::uint32_t, std::size_t> counts;  // by rank
    bool even() const {
        return std::all_of(counts.begin(), counts.end(),
                           [&](const auto& each) { return each.second == counts.begin()->second; });
    }
    std::size_t most() const {
        std::size_t most = 0;
        for (const auto& [rank, count] : counts) most = std::max(most, count);
        return most;
    }
};

// A record of a rank, and its place of the step.
struct Placed {
    std::int64_t step, place;
    Interval span;
    auto position() const { return std::pair(step, place); }
};
using Sequence = std::vector<Placed>;  // by position

// Those at equal places of two ranks.
std::vector<std::pair<const Placed*, const Placed*>> shared_places(const Sequence& a, const Sequence& b) {
    std::vector<std::pair<const Placed*, const Placed*>> shared;
    for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
        if (i->position() < k->position())
            ++i;
        else if (k->position() < i->position())
            ++k;
        else
            shared.emplace_back(&*i++, &*k++);
    }
    return shared;
}

// Pauses before the records that two ranks share, without what is usual at their place of the step.
struct Pauses {
    std::vector<double> first, second;

    Pauses(const Sequence& a, const Sequence& b) {
        std::vector<std::int64_t> places;
        std::pair<const Placed*, const Placed*> last{};
        for (const auto& shared : shared_places(a, b)) {
            if (last.first != nullptr) {
                first.push_back(static_cast<double>(shared.first->span.end - last.first->span.end));
                second.push_back(static_cast<double>(shared.second->span.end - last.second->span.end));
                places.push_back(shared.first->place);
            }
            last = shared;
        }
        for (std::vector<double>* pauses : {&first, &second}) {
            remove_usual(*pauses, places);
            clip(*pauses);
        }
    }
    // Of independent values 0; of equal ones 1. Absent if nothing varies.
    std::optional<double> correlation() const {
        double product = 0, square_a = 0, square_b = 0;
        for (std::size_t i = 0; i < first.size(); ++i) {
            product += first[i] * second[i];
            square_a += first[i] * first[i];
            square_b += second[i] * second[i];
        }
        if (square_a <= 0 || square_b <= 0) return std::nullopt;
        return product / std::sqrt(square_a * square_b);
    }

private:
    static void remove_usual(std::vector<double>& pauses, const std::vector<std::int64_t>& places) {
        std::map<std::int64_t, std::vector<double>> by_place;
        for (std::size_t i = 0; i < pauses.size(); ++i) by_place[places[i]].push_back(pauses[i]);
        double all = median_of(pauses);
        std::map<std::int64_t, double> usual;
        for (auto& [place, values] : by_place)
            usual[place] = values.size() >= kFewestOfPlace ? median_of(std::move(values)) : all;
        for (std::size_t i = 0; i < pauses.size(); ++i) pauses[i] -= usual[places[i]];
    }
    static void clip(std::vector<double>& pauses) {
        std::vector<double> sizes;
        for (double pause : pauses) sizes.push_back(std::abs(pause));
        double most = kMostUsual * median_of(std::move(sizes));
        for (double& pause : pauses) pause = std::clamp(pause, -most, most);
    }
};

DurNs overlap(Interval a, Interval b) {
    return std::max(std::min(a.end, b.end) - std::max(a.start, b.start), DurNs{0});
}

// Whether the records at equal places overlap, as those of one collective do by one clock.
bool run_together(const Sequence& a, const Sequence& b) {
    std::size_t places = 0, together = 0;
    DurNs here = 0, next_a = 0, next_b = 0, shorter = 0;
    std::pair<const Placed*, const Placed*> last{};
    for (const auto& shared : shared_places(a, b)) {
        DurNs overlapping = overlap(shared.first->span, shared.second->span);
        ++places;
        together += overlapping > 0;
        here += overlapping;
        shorter += std::min(shared.first->span.length(), shared.second->span.length());
        if (last.first != nullptr) {
            next_a += overlap(shared.first->span, last.second->span);
            next_b += overlap(last.first->span, shared.second->span);
        }
        last = shared;
    }
    return static_cast<double>(together) >= kOverlapping * static_cast<double>(places) &&
           static_cast<double>(here) >= kOfShorter * static_cast<double>(shorter) &&
           static_cast<double>(std::max(next_a, next_b)) <= kWithNext * static_cast<double>(here);
}

// Kinds that no member leaves before all have come. The root of a broadcast, or a sender, may.
bool all_wait_for_all(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
           kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
}

// Whether the records at equal places end at one time, by one clock.
bool end_together(const Sequence& a, const Sequence& b) {
    std::size_t places = 0, together = 0;
    for (const auto& [first, second] : shared_places(a, b)) {
        ++places;
        together += std::abs(first->span.end - second->span.end) <= kSameEnd;
    }
    return static_cast<double>(together) >= kOverlapping * static_cast<double>(places);
}

// `group`: if even that is an assumption, something has to speak for it.
bool are_same(const Sequence& a, const Sequence& b, bool one_clock, const Job::Group& group) {
    if (one_clock) return run_together(a, b) && (!group.several || end_together(a, b));
    if (group.several) return false;
    Pauses pauses(a, b);
    if (pauses.first.size() < kFewestPauses) return !group.assumed;
    std::optional<double> correlation = pauses.correlation();
    return correlation ? *correlation >= kSameCollectives : !group.assumed;
}

// All buckets of one group, kind and direction.
class Series {
public:
    Series(const Job& job, std::span<const OrderedCollective> records, std::size_t begin, std::size_t end,
           std::vector<bool>& trusted)
        : job_(job), records_(records), trusted_(trusted) {
        for (std::size_t i = begin; i < end; ++i) {
            if (buckets_.empty() || records[i].key.step != buckets_.back().step)
                buckets_.push_back({i, i, records[i].key.step, {}});
            buckets_.back().end = i + 1;
            ++buckets_.back().counts[job.collectives[records[i].collective].rank];
        }
    }

    void find_losers(std::set<std::uint32_t>& losers) const {
        std::set<std::int64_t> edges = edges_of_recordings();
        for (const Bucket& bucket : buckets_)
            for (const auto& [rank, count] : bucket.counts)
                if (count < bucket.most() && !edges.contains(bucket.step)) losers.insert(rank);
    }

    void judge_counts(const std::set<std::uint32_t>& losers) {
        std::size_t full = 0;
        for (const Bucket& bucket : buckets_) full = std::max(full, bucket.most());
        for (const Bucket& bucket : buckets_) {
            bool lost = std::any_of(bucket.counts.begin(), bucket.counts.end(), [&](const auto& each) {
                return each.second < full && losers.contains(each.first);
            });
            if (!bucket.even() || lost || !has_equal_messages(bucket)) distrust(bucket);
        }
    }

    std::uint32_t group() const { return records_[buckets_.front().begin].key.group; }

    // Ranks whose records are other collectives than those of most others; absent if nothing can be compared.
    std::optional<std::set<std::uint32_t>> strangers(const std::vector<bool>& whole) const {
        if (buckets_.empty()) return std::nullopt;
        const Job::Collective& first = job_.collectives[records_[buckets_.front().begin].collective];
        const Job::Group& group = job_.groups[first.group];
        bool ends = ends_together(first.kind);
        if (!ends && !(group.assumed && !group.several && all_wait_for_all(first.kind))) return std::nullopt;
        std::map<std::uint32_t, Sequence> sequences;
        for (const Bucket& bucket : buckets_)
            for (std::size_t i = bucket.begin; i < bucket.end; ++i) {
                const Job::Collective& collective = job_.collectives[records_[i].collective];
                if (trusted_[i])
                    sequences[collective.rank].push_back({bucket.step, records_[i].key.place, collective.span});
            }
        std::optional<std::set<std::uint32_t>> fewest;
        std::size_t tried = 0;
        bool compared = ends;
        for (const auto& [reference, its] : sequences) {
            if (tried++ == kMostReferences) break;
            std::set<std::uint32_t> others;
            for (const auto& [rank, found] : sequences) {
                bool one_clock = job_.ranks[rank].clock == job_.ranks[reference].clock;
                if (rank == reference || (whole[rank] && whole[reference]) || !(ends || one_clock)) continue;
                compared = true;
                if (!are_same(its, found, one_clock, group)) others.insert(rank);
            }
            if (!fewest || others.size() < fewest->size()) fewest = others;
            if (2 * fewest->size() < sequences.size()) break;
        }
        if (!fewest || !compared) return std::nullopt;
        if (2 * fewest->size() < sequences.size()) return *fewest;
        std::set<std::uint32_t> all;  // nothing tells who is right
        for (const auto& [rank, its] : sequences) all.insert(rank);
        return all;
    }

private:
    // The first and the last step of each rank: its recording may begin or end within.
    std::set<std::int64_t> edges_of_recordings() const {
        std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> steps;
        for (const Bucket& bucket : buckets_)
            for (const auto& [rank, count] : bucket.counts) {
                auto [known, fresh] = steps.try_emplace(rank, bucket.step, bucket.step);
                if (!fresh) known->second.second = bucket.step;
            }
        std::set<std::int64_t> edges;
        for (const auto& [rank, span] : steps) edges.insert({span.first, span.second});
        return edges;
    }
    bool has_equal_messages(const Bucket& bucket) const {
        std::map<std::int64_t, std::int64_t> bytes;  // by place
        for (std::size_t i = bucket.begin; i < bucket.end; ++i) {
            std::int64_t message = bytes_of(job_, records_[i]);
            if (!gpuprof::has_equal_messages(job_.collectives[records_[i].collective].kind) || message < 0) continue;
            if (bytes.try_emplace(records_[i].key.place, message).first->second != message) return false;
        }
        return true;
    }
    void distrust(const Bucket& bucket) {
        std::fill(trusted_.begin() + static_cast<std::ptrdiff_t>(bucket.begin),
                  trusted_.begin() + static_cast<std::ptrdiff_t>(bucket.end), false);
    }

    const Job& job_;
    std::span<const OrderedCollective> records_;
    std::vector<bool>& trusted_;
    std::vector<Bucket> buckets_;
};

}  // namespace

std::int64_t bytes_of(const Job& job, const OrderedCollective& record) {
    const Job::Collective& collective = job.collectives[record.collective];
    return record.part == kWhole ? collective.bytes : job.transfers_of(collective)[record.part].bytes;
}

bool has_equal_messages(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
           kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::broadcast ||
           kind == CollectiveKind::send_recv;
}

bool ends_together(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
           kind == CollectiveKind::send_recv;
}

std::vector<bool> trusted_orders(const Job& job, std::span<const OrderedCollective> records,
                                 const std::vector<bool>& whole) {
    std::vector<bool> trusted(records.size(), true);
    std::vector<Series> all;
    for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
        while (end < records.size() && records[end].key.series() == records[begin].key.series()) ++end;
        all.emplace_back(job, records, begin, end, trusted);
    }
    std::set<std::uint32_t> losers;
    for (const Series& series : all) series.find_losers(losers);
    std::set<std::pair<std::uint32_t, std::uint32_t>> strangers;  // group and rank
    std::set<std::uint32_t> judged;                               // groups
    for (Series& series : all) {
        series.judge_counts(losers);
        std::optional<std::set<std::uint32_t>> found = series.strangers(whole);
        if (!found) continue;
        judged.insert(series.group());
        for (std::uint32_t rank : *found) strangers.emplace(series.group(), rank);
    }
    // A rank that counts other steps does so in all of its collectives.
    for (std::size_t i = 0; i < records.size(); ++i) {
        std::uint32_t group = records[i].key.group;
        bool unproven = job.groups[group].assumed && !judged.contains(group);
        if (unproven || strangers.contains({group, job.collectives[records[i].collective].rank})) trusted[i] = false;
    }
    return trusted;
}

std::vector<bool> whole_recordings(const Job& job, std::span<const OrderedCollective> numbered) {
    std::set<std::int64_t> read;
    for (const Job::Collective& collective : job.collectives) read.insert(collective.step);
    std::vector<std::int64_t> unread;  // ascending
    std::set_difference(job.steps.begin(), job.steps.end(), read.begin(), read.end(), std::back_inserter(unread));
    auto is_unread_between = [&](std::int64_t from, std::int64_t to) {
        auto next = std::upper_bound(unread.begin(), unread.end(), from);
        return next != unread.end() && *next < to;
    };
    struct Seen {
        std::uint32_t group = kNone;
        std::int64_t last = 0, step = 0;
        std::size_t count = 0, gaps = 0, other_steps = 0;
    };
    std::vector<Seen> ranks(job.ranks.size());
    for (std::size_t begin = 0, end = 0; begin < numbered.size(); begin = end) {
        std::vector<std::int64_t> steps;
        for (; end < numbered.size() && numbered[end].key == numbered[begin].key; ++end)
            steps.push_back(job.collectives[numbered[end].collective].step);
        std::int64_t usual = median_of(std::move(steps)), number = numbered[begin].key.seq;
        std::uint32_t group = numbered[begin].key.group;
        for (std::size_t i = begin; i < end; ++i) {
            const Job::Collective& collective = job.collectives[numbered[i].collective];
            Seen& seen = ranks[collective.rank];
            seen.gaps +=
                seen.group == group && number != seen.last + 1 && !is_unread_between(seen.step, collective.step);
            seen.other_steps += collective.step != usual;
            seen.group = group;
            seen.last = number;
            seen.step = collective.step;
            ++seen.count;
        }
    }
    std::vector<bool> whole;
    for (const Seen& seen : ranks)
        whole.push_back(seen.count >= kFewestPauses && seen.gaps == 0 &&
                        static_cast<double>(seen.other_steps) <= kOtherSteps * static_cast<double>(seen.count));
    return whole;
}

}  // namespace gpuprof::ranks
