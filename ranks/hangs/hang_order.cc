#include "ranks/hangs/hang_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace gpuprof::inline ranks {
namespace {

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

}  // namespace

std::string_view name_of(HangCause cause) {
    switch (cause) {
        case HangCause::mismatch: return "mismatch";
        case HangCause::missing: return "missing rank";
        case HangCause::cycle: return "cycle";
        case HangCause::waits: return "waits for another";
        case HangCause::behind: return "behind another";
        case HangCause::undecided: return "unknown";
        case HangCause::nobody: return "all called it";
    }
    return "unknown";
}

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

}  // namespace gpuprof::ranks
