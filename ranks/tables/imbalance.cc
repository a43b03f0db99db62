// `imbalance`: how evenly ranks that do the same share their work, and whether it is always the same rank that has most.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/tables/cells.h"
#include "core/base/text/rank_list.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

struct Share {
    std::int32_t rank;
    double value;
};

// One quantity of ranks that do the same, over the steps.
struct Evenness {
    double max_over_mean = 0, tail = 0, worst = 0;  // the first two are sums over the steps
    std::int64_t worst_step = 0;
    std::size_t steps = 0, tails = 0;
    std::map<std::int32_t, std::size_t> largest;  // by rank, steps

    double mean() const { return max_over_mean / static_cast<double>(steps); }

    void add(std::int64_t step, const std::vector<Share>& shares) {
        std::vector<double> values;
        double sum = 0;
        for (const Share& share : shares) {
            sum += share.value;
            values.push_back(share.value);
        }
        if (sum <= 0) return;
        auto most = std::max_element(shares.begin(), shares.end(),
                                     [](const Share& a, const Share& b) { return a.value < b.value; });
        double ratio = most->value * static_cast<double>(shares.size()) / sum;
        if (ratio > worst) {
            worst = ratio;
            worst_step = step;
        }
        max_over_mean += ratio;
        ++steps;
        ++largest[most->rank];
        if (double median = median_of(values); median > 0) {
            tail += quantile_of(std::move(values), 0.95) / median;
            ++tails;
        }
    }
};

struct Quantity {
    std::string ranks, name;
    auto operator<=>(const Quantity&) const = default;
};

class Imbalance {
public:
    explicit Imbalance(const Facts& facts) : job_(facts.get<Job>()), peers_(facts.get<Peers>()) {}

    std::map<Quantity, Evenness> find() && {
        std::map<std::tuple<std::uint32_t, std::int64_t, CollectiveKind>, double> bytes;
        for (const Job::Collective& collective : job_.collectives)
            if (collective.bytes > 0)
                bytes[{collective.rank, collective.step, collective.kind}] += static_cast<double>(collective.bytes);
        for (const auto& group : peers_.equal_steps) {
            // No structured binding: clang 14 captures none.
            const auto& key = group.first;
            const auto& indices = group.second;
            std::vector<const Job::RankStep*> steps;
            for (std::uint32_t index : indices) steps.push_back(&job_.rank_steps[index]);
            if (steps.size() < 2) continue;
            RankList members;
            for (const Job::RankStep* step : steps) members.push_back(job_.ranks[step->rank].rank);
            std::string ranks = format_ranks(members);
            auto add = [&](std::string name, auto&& value) {
                std::vector<Share> shares;
                for (const Job::RankStep* step : steps) shares.push_back({job_.ranks[step->rank].rank, value(*step)});
                found_[{ranks, std::move(name)}].add(key.first, shares);
            };
            add("compute", [](const Job::RankStep& step) { return static_cast<double>(step.own.compute); });
            add("input", [](const Job::RankStep& step) { return static_cast<double>(step.own.input); });
            add("host", [](const Job::RankStep& step) { return static_cast<double>(step.own.host); });
            for (int number = 0; number <= static_cast<int>(CollectiveKind::send_recv); ++number) {
                auto kind = static_cast<CollectiveKind>(number);
                add("bytes of " + std::string(to_string(kind)), [&](const Job::RankStep& step) {
                    auto sum = bytes.find({step.rank, step.step, kind});
                    return sum == bytes.end() ? 0.0 : sum->second;
                });
            }
        }
        return std::move(found_);
    }

private:
    const Job& job_;
    const Peers& peers_;
    std::map<Quantity, Evenness> found_;
};

std::string_view pattern_of(const Quantity& quantity, const Evenness& found, std::size_t most) {
    double even = quantity.name.starts_with("bytes") ? kEvenBytes : kEven;
    auto steps = static_cast<double>(found.steps);
    if (found.mean() <= even) return "even";
    return static_cast<double>(most) >= kSteadyShare * steps ? "steady" : "changing";
}

struct ImbalanceRow {
    const Quantity& quantity;
    const Evenness& found;
    std::int32_t rank;  // that has most in most steps
    std::size_t rank_steps;
    std::string_view pattern;

    bool even() const { return pattern == "even"; }
};

constexpr auto kImbalanceColumns = columns_of<ImbalanceRow>({
    {"ranks", CellType::text, Unit::none, "Ranks that do the same in a step.",
     [](auto& r) { return text_cell(r.quantity.ranks); }},
    {"quantity", CellType::text, Unit::none,
     "compute; input, host: idle time for that reason; or the bytes of a kind of collective.",
     [](auto& r) { return text_cell(r.quantity.name); }},
    {"pattern", CellType::text, Unit::none,
     "even; steady: one rank has most in three of five steps or more; changing: now one rank, now another, as with "
     "sequences of uneven length.",
     [](auto& r) { return r.pattern; }},
    {"max_over_mean", CellType::real, Unit::none,
     "The largest over the mean of the ranks, 1 if all have the same; mean over the steps.",
     [](auto& r) { return r.found.mean(); }},
    {"p95_over_p50", CellType::real, Unit::none,
     "The 95th percentile of the ranks over their median; mean over the steps.",
     [](auto& r) { return r.found.tails > 0 ? ratio(r.found.tail, static_cast<double>(r.found.tails)) : kAbsent; }},
    {"largest_rank", CellType::integer, Unit::none, "The rank that has most in most steps.",
     [](auto& r) { return r.even() ? kAbsent : integer(r.rank); }},
    {"largest_pct", CellType::real, Unit::percent, "Share of the steps in which it has.",
     [](auto& r) { return r.even() ? kAbsent : percent(r.rank_steps, r.found.steps); }},
    {"worst_step", CellType::integer, Unit::none, "Step with the largest max_over_mean.",
     [](auto& r) { return r.even() ? kAbsent : integer(r.found.worst_step); }},
    {"steps", CellType::integer, Unit::count, "Steps that were compared.", [](auto& r) { return r.found.steps; }},
});

Result<ResultTable> imbalance_table(const Facts& facts) {
    ResultTable table("imbalance", kImbalanceColumns);
    if (!has_ranks(facts, table)) return table;
    std::map<Quantity, Evenness> all = Imbalance(facts).find();
    std::vector<const std::pair<const Quantity, Evenness>*> order;
    for (const auto& row : all)
        if (row.second.steps > 0) order.push_back(&row);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->second.mean() > b->second.mean(); });
    for (const auto* row : order) {
        const auto& [quantity, found] = *row;
        auto most = std::max_element(found.largest.begin(), found.largest.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        table.add(kImbalanceColumns,
                  {quantity, found, most->first, most->second, pattern_of(quantity, found, most->second)});
    }
    if (table.rows() == 0) table.notes.push_back("No two ranks do the same in a step.");
    return table;
}

}  // namespace

const Analysis kImbalance{"imbalance",
                          "",
                          "How evenly ranks that do the same share compute, messages and waiting for the host.",
                          kImbalanceColumns,
                          imbalance_table,
                          {.of_job = true}};

}  // namespace gpuprof::ranks
