#include "ranks/pages/step_choice.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/price/stragglers.h"

namespace gpuprof::inline ranks {
namespace {

std::vector<std::uint32_t> indices_of(const Job& job, const std::vector<std::int32_t>& numbers) {
    std::vector<std::uint32_t> found;
    for (std::int32_t number : numbers) {
        auto at = std::lower_bound(job.ranks.begin(), job.ranks.end(), number,
                                   [](const Job::Rank& rank, std::int32_t key) { return rank.rank < key; });
        if (at != job.ranks.end() && at->rank == number)
            found.push_back(static_cast<std::uint32_t>(at - job.ranks.begin()));
    }
    return found;
}

class Chooser {
public:
    Chooser(const Facts& facts, std::int64_t step, std::size_t most)
        : facts_(facts), job_(facts.get<Job>()), most_(most) {
        for (const Job::RankStep& each : job_.rank_steps)
            if (each.step == step) own_[each.rank] = each.own.compute + each.own.copy + each.own.input + each.own.host;
    }

    std::vector<ChosenRank> choose(const std::vector<std::uint32_t>& critical) && {
        if (own_.size() <= most_) {
            for (const auto& [rank, own] : own_) add(rank, ChosenFor::all);
            return take();
        }
        // Half of the places are for ranks with a reason of their own; a host of eight or a group of hundreds must not
        // hide what is usual.
        for (const Straggler& unit : facts_.get<Stragglers>().units)
            for (std::uint32_t rank : ranks_of(facts_, unit))
                if (unit.named && chosen_.size() < most_ / 2) add(rank, ChosenFor::straggler);
        for (std::uint32_t rank : critical)
            if (chosen_.size() < most_ / 2) add(rank, ChosenFor::critical_path);
        add_groups();
        add_quantiles();
        return take();
    }

private:
    void add(std::uint32_t rank, ChosenFor reason) {
        if (chosen_.size() < most_ && own_.contains(rank)) chosen_.try_emplace(rank, reason);
    }

    void add_groups() {
        std::vector<const Job::Group*> groups;
        for (const Job::Group& group : job_.groups) groups.push_back(&group);
        std::stable_sort(groups.begin(), groups.end(),
                         [](const Job::Group* a, const Job::Group* b) { return a->ranks.size() < b->ranks.size(); });
        for (const Job::Group* group : groups) {
            std::vector<std::uint32_t> ranks = indices_of(job_, group->ranks);
            bool concerned = std::any_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
                auto known = chosen_.find(rank);
                return known != chosen_.end() && known->second == ChosenFor::straggler;
            });
            for (std::uint32_t rank : ranks)
                if (concerned && chosen_.size() < most_ * 3 / 4) add(rank, ChosenFor::group);
        }
    }

    void add_quantiles() {
        std::vector<std::pair<DurNs, std::uint32_t>> rest;
        for (const auto& [rank, own] : own_)
            if (!chosen_.contains(rank)) rest.emplace_back(own, rank);
        std::sort(rest.begin(), rest.end());
        std::size_t places = std::min(most_ - chosen_.size(), rest.size());
        for (std::size_t i = 0; i < places; ++i)
            add(rest[places < 2 ? rest.size() / 2 : i * (rest.size() - 1) / (places - 1)].second, ChosenFor::quantile);
    }

    std::vector<ChosenRank> take() {
        std::vector<ChosenRank> ranks;
        for (auto [rank, reason] : chosen_) ranks.push_back({rank, reason});
        return ranks;
    }

    const Facts& facts_;
    const Job& job_;
    std::size_t most_;
    std::map<std::uint32_t, DurNs> own_;  // of ranks that recorded the step
    std::map<std::uint32_t, ChosenFor> chosen_;
};

}  // namespace

std::string_view name_of(ChosenFor reason) {
    switch (reason) {
        case ChosenFor::all: return "all";
        case ChosenFor::straggler: return "straggler";
        case ChosenFor::critical_path: return "critical path";
        case ChosenFor::group: return "group";
        case ChosenFor::quantile: return "quantile";
    }
    return "";
}

std::vector<std::uint32_t> ranks_of(const Facts& facts, const Straggler& unit) {
    switch (unit.kind) {
        case UnitKind::rank: return {unit.index};
        case UnitKind::host: return facts.get<JobHosts>().hosts[unit.index].ranks;
        case UnitKind::group: return indices_of(facts.get<Job>(), facts.get<Job>().groups[unit.index].ranks);
        case UnitKind::job: return {};
    }
    return {};
}

std::vector<ChosenRank> chosen_ranks(const Facts& facts, std::int64_t step, const std::vector<std::uint32_t>& critical,
                                     std::size_t most) {
    return Chooser(facts, step, most).choose(critical);
}

std::vector<std::size_t> chosen_steps(const std::vector<DurNs>& lengths, std::size_t slowest) {
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
    std::vector<std::size_t> chosen(order.begin(),
                                    order.begin() + static_cast<std::ptrdiff_t>(std::min(slowest, order.size())));
    if (order.size() > slowest) {
        std::size_t median = order[order.size() / 2];
        if (std::find(chosen.begin(), chosen.end(), median) == chosen.end()) chosen.push_back(median);
    }
    return chosen;
}

}  // namespace gpuprof::ranks
