#include "ranks/clocks/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "analyze/facts/facts.h"
#include "ranks/clocks/clock_brackets.h"
#include "ranks/clocks/clock_jump.h"
#include "ranks/clocks/clock_system.h"
#include "ranks/match/match_order.h"
#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr int kMostRounds = 16;  // of excluding clocks: if most contradict each other, nothing tells who is right
// Collectives of one group, and of all groups: more only take time. They are spread over the recording.
constexpr std::size_t kMostOfGroup = 400, kFewestOfGroup = 32, kMostOfAll = 60'000;

class Aligner {
public:
    Aligner(const Job& job, const MatchedJob& matched) : job_(job), matched_(matched) {}

    AlignedClocks align() {
        AlignedClocks clocks;
        clocks.clocks.resize(job_.clocks.size());
        find_middle(clocks);
        collect(clocks.middle);
        number_islands(clocks);
        if (clocks.islands > 1) bridge_islands(clocks);
        ClockSolution whole = fit(clocks);
        std::vector<double> residuals = residuals_of(ends_, whole, half_);
        std::vector<std::vector<double>> sizes(job_.clocks.size());
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            sizes[ends_[i].clock].push_back(std::abs(residuals[i]));
            ++clocks.clocks[ends_[i].clock].instances;
        }
        std::vector<double> differences = differences_of_halves(), errors = errors_of(ends_, whole, half_);
        for (std::size_t i = 0; i < clocks.clocks.size(); ++i) {
            ClockFit& fit = clocks.clocks[i];
            fit.residual_ns = quantile_of(sizes[i], 0.5);
            fit.aligned = fit.instances >= kFewestInstances && fit.residual_ns <= kMaxResidualNs &&
                          !bent_.contains(static_cast<std::uint32_t>(i));
            if (clocks.clocks.size() == 1) fit.aligned = true;  // nothing to align it with
            if (!fit.aligned) {
                fit.jump_ns = 0;
                continue;
            }
            fit.offset_ns = whole.offset[i];
            fit.rate_ppm = whole.drift[i] / half_ * 1e6;
            fit.error_ns = std::max(differences[i], errors[i]) + quantile_of(sizes[i], 0.95) + slack_;
        }
        return clocks;
    }

private:
    // Clocks that no offset and rate describe would bend all others: they are excluded, or their jump is removed.
    ClockSolution fit(AlignedClocks& clocks) {
        std::vector<ClockEnd> all = ends_;
        ClockSolution solution = fit_without(all);
        if (bent_.empty()) return solution;
        bool any = false;
        for (std::uint32_t clock : bent_) {
            std::vector<ClockLead> leads = leads_of(clock, all, solution);
            std::optional<ClockJump> jump = find_jump(leads);
            if (!jump) continue;
            any = true;
            clocks.clocks[clock].jump_ns = jump->size;
            clocks.clocks[clock].jump_at = clocks.middle + std::llround(jump->time);
            for (ClockEnd& end : all)
                if (end.clock == clock && end.time > jump->time) end.time -= jump->size;
        }
        if (any) {
            bent_.clear();
            solution = fit_without(all);
        }
        for (std::uint32_t clock : bent_) clocks.clocks[clock].jump_ns = 0;
        // What is excluded has distances from the others all the same, and no weight.
        auto kept = ends_.begin();
        for (ClockEnd& end : all) end.weight = bent_.contains(end.clock) ? 0 : (kept++)->weight;
        ends_ = std::move(all);
        return solution;
    }

    // Fits ends_, which become `all` without the clocks that contradict the others, the worst ones first.
    ClockSolution fit_without(const std::vector<ClockEnd>& all) {
        ends_ = all;
        for (int round = 0;; ++round) {
            ClockSolution solution = fit_clocks(ends_, job_.clocks.size(), half_);
            std::vector<double> residuals = residuals_of(ends_, solution, half_);
            std::vector<std::vector<double>> sizes(job_.clocks.size());
            for (std::size_t i = 0; i < ends_.size(); ++i) sizes[ends_[i].clock].push_back(std::abs(residuals[i]));
            std::vector<double> medians;
            for (std::vector<double>& of_clock : sizes) medians.push_back(median_of(std::move(of_clock)));
            double worst = medians.empty() ? 0 : *std::max_element(medians.begin(), medians.end());
            double usual = median_of(solution.drift);
            std::size_t before = bent_.size();
            for (std::uint32_t clock = 0; clock < medians.size(); ++clock) {
                bool wild = std::abs(solution.drift[clock] - usual) > kMaxRate * half_;
                if (wild || (worst > kMaxResidualNs && medians[clock] >= kAlmostWorst * worst)) bent_.insert(clock);
            }
            if (bent_.size() == before || round == kMostRounds) return solution;
            std::erase_if(ends_, [&](const ClockEnd& end) { return bent_.contains(end.clock); });
        }
    }

    // Its ends against the mean of the other clocks' at the same instances.
    std::vector<ClockLead> leads_of(std::uint32_t clock, const std::vector<ClockEnd>& all,
                                    const ClockSolution& solution) const {
        std::map<std::uint32_t, std::pair<double, double>> moments;  // by instance: sum, number
        for (const ClockEnd& end : ends_) {
            auto& [sum, number] = moments[end.instance];
            sum += end.time - solution.offset[end.clock] - solution.drift[end.clock] * end.time / half_;
            number += 1;
        }
        std::vector<ClockLead> leads;
        for (const ClockEnd& end : all) {
            if (end.clock != clock) continue;
            if (auto moment = moments.find(end.instance); moment != moments.end())
                leads.push_back({end.time, end.time - moment->second.first / moment->second.second});
        }
        return leads;
    }

    void find_middle(AlignedClocks& clocks) {
        TimeNs first = 0, last = 0;
        for (const Job::Collective& collective : job_.collectives) {
            first = first == 0 ? collective.span.end : std::min(first, collective.span.end);
            last = last == 0 ? collective.span.end : std::max(last, collective.span.end);
        }
        clocks.middle = first + (last - first) / 2;
        half_ = std::max(static_cast<double>(last - first) / 2, 1.0);
    }

    // One end of each instance and clock: the median of the clock's ranks.
    void collect(TimeNs middle) {
        std::vector<std::size_t> usable(job_.groups.size(), 0), seen(job_.groups.size(), 0);
        for (const Instance& instance : matched_.instances) usable[instance.group] += is_usable(instance);
        std::size_t most =
            std::clamp(kMostOfAll / std::max<std::size_t>(job_.groups.size(), 1), kFewestOfGroup, kMostOfGroup);
        for (std::size_t i = 0; i < matched_.instances.size(); ++i) {
            const Instance& instance = matched_.instances[i];
            if (!is_usable(instance)) continue;
            std::size_t every = (usable[instance.group] + most - 1) / most;
            if (seen[instance.group]++ % every != 0) continue;
            std::vector<std::pair<std::uint32_t, double>> ends;
            for (std::uint32_t member : matched_.of(instance)) {
                const Job::Collective& collective = job_.collectives[member];
                ends.emplace_back(job_.ranks[collective.rank].clock, static_cast<double>(collective.span.end - middle));
            }
            std::sort(ends.begin(), ends.end());
            if (ends.front().first == ends.back().first) continue;
            for (std::size_t begin = 0, end = 0; begin < ends.size(); begin = end) {
                while (end < ends.size() && ends[end].first == ends[begin].first) ++end;
                ends_.push_back({static_cast<std::uint32_t>(i), ends[begin].first, ends[(begin + end) / 2].second, 1});
            }
        }
    }

    bool is_usable(const Instance& instance) const {
        return instance.count > 1 && !instance.exchange &&
               ends_together(job_.collectives[matched_.members[instance.first]].kind);
    }

    // By exchanges between them. What their bounds leave open adds up along a chain of islands.
    void bridge_islands(AlignedClocks& clocks) {
        std::vector<std::uint32_t> islands;
        for (const ClockFit& fit : clocks.clocks) islands.push_back(fit.island);
        auto instance = static_cast<std::uint32_t>(matched_.instances.size());
        std::vector<double> slacks;
        for (const ClockBracket& bracket : clock_brackets(job_, matched_, islands, clocks.middle)) {
            ends_.push_back({instance, bracket.a, bracket.time, 1});
            ends_.push_back({instance++, bracket.b, bracket.time + bracket.difference, 1});
            slacks.push_back(bracket.slack);
        }
        slack_ = median_of(std::move(slacks)) * std::max((clocks.islands - 1) / 2.0, 1.0);
        clocks.islands = 0;
        number_islands(clocks);
    }

    void number_islands(AlignedClocks& clocks) {
        std::vector<std::uint32_t> root(job_.clocks.size());
        std::iota(root.begin(), root.end(), 0U);
        auto find = [&](std::uint32_t at) {
            while (root[at] != at) at = root[at] = root[root[at]];
            return at;
        };
        for (std::size_t i = 1; i < ends_.size(); ++i)
            if (ends_[i].instance == ends_[i - 1].instance) {
                std::uint32_t a = find(ends_[i].clock), b = find(ends_[i - 1].clock);
                root[std::max(a, b)] = std::min(a, b);
            }
        std::vector<std::uint32_t> number(job_.clocks.size(), kNone);
        for (std::uint32_t clock = 0; clock < root.size(); ++clock) {
            std::uint32_t& island = number[find(clock)];
            if (island == kNone) island = clocks.islands++;
            clocks.clocks[clock].island = island;
        }
    }

    // How far fits to the odd and to the even instances are apart: 95th percentile over the recording, by clock.
    std::vector<double> differences_of_halves() {
        std::vector<ClockEnd> halves[2];
        std::uint32_t turn = 0;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            if (i > 0 && ends_[i].instance != ends_[i - 1].instance) ++turn;
            if (ends_[i].weight <= 0) continue;
            // Not simply odd and even: the two directions of a pair take turns.
            halves[(turn ^ (turn >> 1) ^ (turn >> 3)) & 1U].push_back(
                {ends_[i].instance, ends_[i].clock, ends_[i].time, 1});
        }
        ClockSolution a = fit_clocks(halves[0], job_.clocks.size(), half_),
                      b = fit_clocks(halves[1], job_.clocks.size(), half_);
        std::vector<double> differences(job_.clocks.size());
        for (std::size_t i = 0; i < differences.size(); ++i)
            differences[i] = std::abs(a.offset[i] - b.offset[i]) + 0.95 * std::abs(a.drift[i] - b.drift[i]);
        return differences;
    }

    const Job& job_;
    const MatchedJob& matched_;
    std::vector<ClockEnd> ends_;
    std::set<std::uint32_t> bent_;  // clocks that no offset and rate describe
    double half_ = 1, slack_ = 0;
};

}  // namespace

AlignedClocks AlignedClocks::make(const Facts& facts) {
    return Aligner(facts.get<Job>(), facts.get<MatchedJob>()).align();
}

TimeNs AlignedClocks::common(std::uint32_t clock, TimeNs time) const {
    const ClockFit& fit = clocks[clock];
    if (!fit.aligned) return time;
    if (fit.jump_ns != 0 && time > fit.jump_at) time -= std::llround(fit.jump_ns);
    return time - std::llround(fit.offset_ns + fit.rate_ppm * 1e-6 * static_cast<double>(time - middle));
}

}  // namespace gpuprof::ranks
