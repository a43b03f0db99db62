#include "ranks/hangs/hangs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "ranks/reduce/call_text.h"

namespace gpuprof::inline ranks {
namespace {

// The roots among hangs, and their order.

constexpr std::size_t kNoIndex = SIZE_MAX;

// The cycle that following waits_for from a row ends in. Every row on the way waits for another one.
std::vector<std::size_t> cycle_from(const std::vector<Hang>& rows, std::size_t row) {
    std::vector<std::size_t> place(rows.size(), kNoIndex), way;
    for (; place[row] == kNoIndex; row = rows[row].waits_for.front()) {
        place[row] = way.size();
        way.push_back(row);
    }
    way.erase(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(place[row]));
    return way;
}

bool same_culprits(const Hang& a, const Hang& b) {
    return std::includes(b.culprits.begin(), b.culprits.end(), a.culprits.begin(), a.culprits.end());
}

// A row whose missing ranks are missing in a row that it waits for, too, adds nothing.
void drop_repeated_culprits(std::vector<Hang>& rows) {
    for (Hang& hang : rows)
        if (hang.cause == HangCause::missing &&
            std::any_of(hang.waits_for.begin(), hang.waits_for.end(), [&](std::size_t other) {
                return rows[other].cause == HangCause::missing && same_culprits(hang, rows[other]);
            }))
            hang.cause = HangCause::waits;
}

class Dependents {
public:
    explicit Dependents(std::vector<Hang>& rows) : rows_(rows), waiting_(rows.size()), seen_(rows.size(), kNoIndex) {
        for (std::size_t row = 0; row < rows.size(); ++row)
            for (std::size_t other : rows[row].waits_for) waiting_[other].push_back(row);
    }
    // Visits all rows that wait for `root`, directly or not, and counts them.
    void count(std::size_t root) {
        std::vector<std::size_t> open{root};
        seen_[root] = root;
        while (!open.empty()) {
            std::size_t row = open.back();
            open.pop_back();
            for (std::size_t other : waiting_[row]) {
                if (seen_[other] == root) continue;
                seen_[other] = root;
                ++rows_[root].dependents;
                open.push_back(other);
            }
        }
    }
    bool explained(std::size_t row) const { return seen_[row] != kNoIndex; }

private:
    std::vector<Hang>& rows_;
    std::vector<std::vector<std::size_t>> waiting_;
    std::vector<std::size_t> seen_;  // the last root from which a row was reached
};

void sort_rows(std::vector<Hang>& rows, std::vector<std::size_t>& in_cycle) {
    std::vector<std::size_t> order(rows.size()), place(rows.size());
    std::iota(order.begin(), order.end(), 0);
    auto rank_of = [&](std::size_t row) {
        const Hang& hang = rows[row];
        return std::tuple(!hang.root, hang.root ? hang.cause : HangCause::mismatch, ~hang.dependents,
                          hang.cause == HangCause::behind);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank_of(a) < rank_of(b); });
    std::vector<Hang> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        sorted.push_back(std::move(rows[order[i]]));
    }
    for (Hang& hang : sorted)
        for (std::size_t& other : hang.waits_for) other = place[other];
    for (std::size_t& row : in_cycle) row = place[row];
    rows = std::move(sorted);
}

// Marks roots and cycles, counts dependents, sorts the rows and renumbers what refers to them. The result is the first
// cycle; empty if there is none.
std::vector<std::size_t> order_hangs(std::vector<Hang>& rows) {
    std::vector<std::size_t> in_cycle;
    drop_repeated_culprits(rows);
    Dependents dependents(rows);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        Hang& hang = rows[row];
        hang.root = hang.cause == HangCause::mismatch || hang.cause == HangCause::missing || hang.waits_for.empty();
        if (hang.root) dependents.count(row);
    }
    // A row that waits for no root waits for a circle of rows.
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (dependents.explained(row)) continue;
        std::vector<std::size_t> cycle = cycle_from(rows, row);
        for (std::size_t each : cycle) {
            rows[each].root = true;
            rows[each].cause = HangCause::cycle;
            dependents.count(each);
        }
        if (in_cycle.empty()) in_cycle = std::move(cycle);
    }
    sort_rows(rows, in_cycle);
    return in_cycle;
}

using Index = std::uint32_t;  // of RankCalls::calls

class HangFinder {
public:
    explicit HangFinder(const RankCalls& calls) : calls_(calls) {}

    std::vector<Hang> find() && {
        index_calls();
        for (const auto& [group, numbers] : by_number_) find_in_group(group, numbers);
        find_pairs();
        for (std::size_t row = 0; row < rows_.size(); ++row) find_edges(row);
        return std::move(rows_);
    }

private:
    using Numbers = std::map<std::int64_t, std::vector<Index>>;

    void index_calls() {
        for (Index i = 0; i < calls_.calls.size(); ++i) {
            const RankCall& call = calls_.calls[i];
            if (call.is_open()) open_[call.rank].push_back(i);
            any_call_.insert(call.rank);
            if (call.is_pair()) continue;
            if (!call.is_open()) completed_.insert(call.group);
            if (call.seq >= 0) by_number_[call.group][call.seq].push_back(i);
            callers_[call.group].insert(call.rank);
        }
    }

    // Ranks that must take part, as far as is known.
    RankList members(std::int64_t group) const {
        RankList ranks;
        auto known = calls_.groups.find(group);
        if (known != calls_.groups.end() && !known->second.ranks.empty()) return known->second.ranks;
        if (known != calls_.groups.end() && known->second.all_ranks) {
            for (const auto& [rank, about] : calls_.ranks) ranks.push_back(rank);
            return ranks;
        }
        auto callers = callers_.find(group);
        return callers == callers_.end() ? ranks : RankList(callers->second.begin(), callers->second.end());
    }

    void find_in_group(std::int64_t group, const Numbers& numbers) {
        bool hangs =
            std::any_of(numbers.begin(), numbers.end(), [&](const auto& number) { return is_open(number.second); });
        if (!hangs) return;
        RankList ranks = members(group);
        std::size_t first = rows_.size();
        for (const auto& [seq, same] : numbers) {
            std::vector<const RankCall*> of_number;
            for (Index i : same) of_number.push_back(&calls_.calls[i]);
            std::string mismatch = mismatch_of(of_number);
            if (!is_open(same) && (mismatch.empty() || rows_.size() > first)) continue;
            Hang& row = rows_.emplace_back();
            row.group = group;
            row.seq = seq;
            row.mismatch = std::move(mismatch);
            std::map<std::int32_t, CallState> states = states_of(of_number);
            for (std::int32_t rank : ranks) place(row, rank, states);
            // A dump alone may not say which rank it is of.
            if (calls_.ranks.contains(kUnknownRank)) {
                row.no_dump.clear();
                place(row, kUnknownRank, states);
            }
            describe(row, of_number);
            for (Index i : same) row_of_[i] = rows_.size() - 1;
            if (rows_.size() - 1 > first) {
                row.waits_for = {first};
                row.cause = HangCause::behind;
            }
        }
    }

    bool is_open(const std::vector<Index>& calls) const {
        return std::any_of(calls.begin(), calls.end(), [&](Index i) { return calls_.calls[i].is_open(); });
    }

    // Of a coalesced collective a rank has several calls with one number; the one that has come least far counts.
    static std::map<std::int32_t, CallState> states_of(const std::vector<const RankCall*>& calls) {
        std::map<std::int32_t, CallState> states;
        for (const RankCall* call : calls) {
            auto [state, fresh] = states.try_emplace(call->rank, call->state);
            if (!fresh) state->second = std::min(state->second, call->state);
        }
        return states;
    }

    void place(Hang& row, std::int32_t rank, const std::map<std::int32_t, CallState>& states) const {
        if (auto state = states.find(rank); state != states.end()) return list_for(row, state->second).push_back(rank);
        auto about = calls_.ranks.find(rank);
        if (about == calls_.ranks.end() || !about->second.dump) return row.no_dump.push_back(rank);
        auto range = calls_.ranges.find({row.group, rank});
        // What the group completed, all of its ranks called: a dump without entries is then not the whole truth.
        bool empty = !any_call_.contains(rank) && completed_.contains(row.group);
        if (range == calls_.ranges.end())
            (about->second.lost > 0 || empty ? row.unknown : row.missing).push_back(rank);
        else if (row.seq > range->second.last)
            row.missing.push_back(rank);
        else
            (row.seq < range->second.first ? row.unknown : row.completed).push_back(rank);
    }
    static RankList& list_for(Hang& row, CallState state) {
        if (state == CallState::completed) return row.completed;
        return state == CallState::scheduled ? row.not_begun : row.waiting;
    }

    static void describe(Hang& row, const std::vector<const RankCall*>& calls) {
        for (const RankCall* call : calls) {
            if (row.call == nullptr || (call->is_open() && !row.call->is_open())) row.call = call;
            if (call->created) row.since = std::min(row.since.value_or(*call->created), *call->created);
        }
    }

    // The k-th open send of one rank belongs to the k-th open receive of the other.
    void find_pairs() {
        struct Ends {
            std::vector<Index> sends, receives;
        };
        std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t>, Ends> transfers;
        for (const auto& [rank, calls] : open_)
            for (Index i : calls)
                if (const RankCall& call = calls_.calls[i]; call.is_pair()) {
                    Ends& ends = transfers[{call.group, call.from, call.to}];
                    (call.name == "send" ? ends.sends : ends.receives).push_back(i);
                }
        for (const auto& [key, ends] : transfers)
            for (std::size_t k = 0; k < std::max(ends.sends.size(), ends.receives.size()); ++k) {
                rows_.emplace_back().group = std::get<0>(key);
                std::vector<const RankCall*> both;
                place_end(std::get<1>(key), ends.sends, k, both);
                place_end(std::get<2>(key), ends.receives, k, both);
                rows_.back().mismatch = mismatch_of_pair(both);
                describe(rows_.back(), both);
            }
    }
    // `rank` is negative if the recorder did not know it.
    void place_end(std::int32_t rank, const std::vector<Index>& calls, std::size_t k,
                   std::vector<const RankCall*>& both) {
        Hang& row = rows_.back();
        if (k < calls.size()) {
            const RankCall& call = calls_.calls[calls[k]];
            both.push_back(&call);
            list_for(row, call.state).push_back(call.rank);
            row_of_[calls[k]] = rows_.size() - 1;
        } else if (rank >= 0) {
            auto about = calls_.ranks.find(rank);
            bool dump = about != calls_.ranks.end() && about->second.dump;
            (dump ? row.missing : row.no_dump).push_back(rank);
        }
    }

    // What a rank sits in: the row of its first open call, if that is before `call`.
    std::optional<std::size_t> sits_in(std::int32_t rank, const RankCall* call) const {
        auto calls = open_.find(rank);
        if (calls == open_.end()) return std::nullopt;
        Index first = calls->second.front();
        if (call != nullptr && calls_.calls[first].call >= call->call) return std::nullopt;
        auto row = row_of_.find(first);
        return row == row_of_.end() ? std::nullopt : std::optional(row->second);
    }

    void find_edges(std::size_t at) {
        Hang& row = rows_[at];
        if (row.cause == HangCause::behind) return;
        std::set<std::size_t> edges;
        for (std::int32_t rank : row.missing) {
            std::optional<std::size_t> seat = sits_in(rank, nullptr);
            if (seat && *seat != at)
                edges.insert(*seat);
            else
                row.culprits.push_back(rank);
        }
        // Nobody is missing, but a rank may be unable to begin: an earlier call occupies it.
        if (row.missing.empty())
            for (std::int32_t rank : row.not_begun)
                if (std::optional<std::size_t> seat = sits_in(rank, call_of(rank, at)); seat && *seat != at)
                    edges.insert(*seat);
        row.waits_for.assign(edges.begin(), edges.end());
        if (!row.mismatch.empty())
            row.cause = HangCause::mismatch;
        else if (!row.culprits.empty())
            row.cause = HangCause::missing;
        else if (!edges.empty())
            row.cause = HangCause::waits;
        else
            row.cause = is_undecided(row) ? HangCause::undecided : HangCause::none;
    }

    // Nobody is known to be missing, but that is not everything.
    bool is_undecided(const Hang& row) const {
        if (!row.no_dump.empty() || !row.unknown.empty() || calls_.of_one_dump != nullptr) return true;
        if (row.call->is_pair()) return row.call->from < 0;
        auto group = calls_.groups.find(row.group);
        return group == calls_.groups.end() || (group->second.ranks.empty() && !group->second.all_ranks);
    }

    const RankCall* call_of(std::int32_t rank, std::size_t at) const {
        auto calls = open_.find(rank);
        if (calls == open_.end()) return nullptr;
        for (Index i : calls->second)
            if (auto row = row_of_.find(i); row != row_of_.end() && row->second == at) return &calls_.calls[i];
        return nullptr;
    }

    const RankCalls& calls_;
    std::map<std::int64_t, Numbers> by_number_;               // collectives, by group
    std::map<std::int64_t, std::set<std::int32_t>> callers_;  // by group
    std::set<std::int32_t> any_call_;                         // ranks
    std::set<std::int64_t> completed_;                        // groups with a complete collective
    std::map<std::int32_t, std::vector<Index>> open_;         // by rank, in order
    std::map<Index, std::size_t> row_of_;
    std::vector<Hang> rows_;
};

}  // namespace

std::string_view name_of(HangCause cause) {
    switch (cause) {
        case HangCause::mismatch: return "mismatch";
        case HangCause::missing: return "missing rank";
        case HangCause::cycle: return "cycle";
        case HangCause::waits: return "waits for another";
        case HangCause::behind: return "behind another";
        case HangCause::undecided: return "unknown";
        case HangCause::none: return "all called it";
    }
    return "unknown";
}

const RankCall* Hangs::last_of(std::int32_t rank) const {
    auto after = std::upper_bound(calls.calls.begin(), calls.calls.end(), rank,
                                  [](std::int32_t number, const RankCall& call) { return number < call.rank; });
    return after != calls.calls.begin() && std::prev(after)->rank == rank ? &*std::prev(after) : nullptr;
}

Hangs Hangs::make(const Facts& facts) {
    Hangs hangs;
    hangs.calls = RankCalls::make(facts);
    hangs.rows = HangFinder(hangs.calls).find();
    hangs.in_cycle = order_hangs(hangs.rows);
    return hangs;
}

}  // namespace gpuprof::ranks
