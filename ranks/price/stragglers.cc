#include "ranks/price/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/price/replay.h"
#include "ranks/price/slow_units.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// The standard error of a mean. The scatter is that of the closest half of the values, so that a delay in up to half of the
// steps, or in more than that, does not count as noise. Few values are closer to each other than to those of other samples,
// hence the factor (Rousseeuw and Leroy, Robust Regression, 1987).
std::optional<double> error_of(std::vector<double> values) {
    if (values.size() < 2) return std::nullopt;
    std::sort(values.begin(), values.end());
    std::size_t half = std::max<std::size_t>((values.size() + 1) / 2, 2);
    double shortest = values.back() - values.front();
    for (std::size_t i = half - 1; i < values.size(); ++i)
        shortest = std::min(shortest, values[i] - values[i + 1 - half]);
    auto count = static_cast<double>(values.size());
    return 1.4826 * (1 + 5 / (count - 1)) * shortest / 2 / std::sqrt(count);
}

class Pricing {
public:
    explicit Pricing(const Facts& facts)
        : facts_(facts),
          job_(facts.get<Job>()),
          replay_(facts.get<JobReplay>()),
          peers_(facts.get<Peers>()),
          counted_(replay_.counted()) {}

    Stragglers price() {
        Stragglers found;
        found.counted = counted_;
        found.recorded = run(replay_.recorded);
        found.ideal = run(peers_.times);
        found.step_ns = replay_.mean_of(found.recorded);
        found.ideal_ns = replay_.mean_of(found.ideal);
        found.actual_ns = replay_.mean_of(replay_.lengths(replay_.ends));
        found.absent_ns = waits_for_absent();
        std::vector<SlowUnit> units = slow_units(facts_, found.step_ns);
        std::vector<Candidate> named;
        for (SlowUnit& unit : units) named.push_back({&unit, cost_of(unit, found)});
        // First with all others fixed, then with only the named ones fixed, as noise of the others stays.
        for (std::size_t before = 0; before != named.size();) {
            before = named.size();
            name(named, found);
            std::erase_if(named, [](const Candidate& each) { return !each.unit->unit.named; });
        }
        for (SlowUnit& unit : units) found.units.push_back(std::move(unit.unit));
        std::stable_sort(found.units.begin(), found.units.end(), [](const Straggler& a, const Straggler& b) {
            if (a.named != b.named) return a.named;
            return a.cost_ns != b.cost_ns ? a.cost_ns > b.cost_ns : a.alone_ns > b.alone_ns;
        });
        return found;
    }

private:
    std::vector<DurNs> run(const JobTimes& times) const { return replay_.lengths(replay_.run(times, peers_.order)); }

    // The most of any rank.
    double waits_for_absent() const {
        std::vector<bool> priced(job_.steps.size(), false);
        for (std::size_t step : counted_)
            if (step < priced.size()) priced[step] = true;
        std::vector<DurNs> sums(job_.ranks.size(), 0);
        for (std::uint32_t i = 0; i < job_.collectives.size(); ++i) {
            auto step = std::lower_bound(job_.steps.begin(), job_.steps.end(), job_.collectives[i].step);
            bool known = step != job_.steps.end() && *step == job_.collectives[i].step;
            if (known && priced[static_cast<std::size_t>(step - job_.steps.begin())])
                sums[job_.collectives[i].rank] += peers_.waits_for_absent[i];
        }
        DurNs most = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
        return static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(counted_.size(), 1));
    }

    // Of the counted steps.
    std::vector<double> differences(const std::vector<DurNs>& from, const std::vector<DurNs>& to) const {
        std::vector<double> result;
        for (std::size_t step : counted_) result.push_back(static_cast<double>(from[step] - to[step]));
        return result;
    }

    void fix(const SlowUnit& unit, JobTimes& times) const {
        for (std::uint32_t i : unit.own) {
            times.own[i] = peers_.times.own[i];
            times.follows[i] = peers_.times.follows[i];
            times.overlapped[i] = peers_.times.overlapped[i];
            times.wait_before[i] = peers_.times.wait_before[i];
            times.lead[i] = peers_.times.lead[i];
            times.waited_for[i] = peers_.times.waited_for[i];
        }
        for (std::uint32_t i : unit.transfer) times.transfer[i] = peers_.times.transfer[i];
    }

    // What a unit takes of each counted step, in ns.
    struct Price {
        double mean = 0;
        std::optional<double> error;
        std::size_t steps = 0;  // in which it is at least 1 % of the step
        std::int64_t first_step = 0, last_step = 0;
    };
    Price price_of(const std::vector<DurNs>& with, const std::vector<DurNs>& without, double step_ns) const {
        Price price;
        std::vector<double> values = differences(with, without);
        for (double value : values) price.mean += value / static_cast<double>(values.size());
        price.error = error_of(values);
        for (std::size_t i = 0; i < values.size() && counted_[i] < job_.steps.size(); ++i) {
            if (values[i] < kMaterial * step_ns) continue;
            if (price.steps++ == 0) price.first_step = job_.steps[counted_[i]];
            price.last_step = job_.steps[counted_[i]];
        }
        return price;
    }
    Price cost_of(const SlowUnit& unit, const Stragglers& found) const {
        JobTimes times = replay_.recorded;
        fix(unit, times);
        return price_of(found.recorded, run(times), found.step_ns);
    }
    struct Candidate {
        SlowUnit* unit;
        Price cost;
    };
    std::vector<DurNs> without_all_but(const std::vector<Candidate>& candidates, const SlowUnit* kept) const {
        JobTimes times = replay_.recorded;
        for (const Candidate& each : candidates)
            if (each.unit != kept) fix(*each.unit, times);
        return run(times);
    }
    // What each would cost if the others were fixed, and whether it is certain.
    void name(const std::vector<Candidate>& candidates, const Stragglers& found) const {
        std::vector<DurNs> without_any = without_all_but(candidates, nullptr);
        for (const Candidate& each : candidates) {
            Price alone = price_of(without_all_but(candidates, each.unit), without_any, replay_.mean_of(without_any));
            const Price& larger = alone.mean > each.cost.mean ? alone : each.cost;
            Straggler& unit = each.unit->unit;
            unit.cost_ns = each.cost.mean;
            unit.alone_ns = alone.mean;
            unit.error_ns = alone.mean > each.cost.mean ? std::max(alone.error, each.cost.error) : each.cost.error;
            unit.steps = larger.steps;
            unit.first_step = larger.first_step;
            unit.last_step = larger.last_step;
            unit.named = is_certain(unit, found.step_ns);
        }
    }
    bool is_certain(const Straggler& unit, double step_ns) const {
        double price = std::max(unit.cost_ns, unit.alone_ns);
        auto steps = static_cast<double>(counted_.size());
        bool often = unit.steps >= kFewestSteps || static_cast<double>(unit.steps) >= kShareOfSteps * steps;
        return price >= kMaterial * step_ns && price >= kCertain * unit.error_ns.value_or(0) && unit.steps > 0 &&
               often && counted_.size() >= kFewestSteps;
    }

    const Facts& facts_;
    const Job& job_;
    const JobReplay& replay_;
    const Peers& peers_;
    std::vector<std::size_t> counted_;  // steps that prices are based on
};

}  // namespace

std::string_view name_of(UnitKind kind) {
    switch (kind) {
        case UnitKind::rank: return "rank";
        case UnitKind::host: return "host";
        case UnitKind::group: return "group";
        case UnitKind::job: return "job";
    }
    return "";
}

std::string_view name_of(DelayCause cause) {
    switch (cause) {
        case DelayCause::slow_gpu: return "slow GPU";
        case DelayCause::more_work: return "more work";
        case DelayCause::late_data: return "late data";
        case DelayCause::pause: return "pauses";
        case DelayCause::slow_host: return "slow host";
        case DelayCause::slow_link: return "slow link";
        case DelayCause::copies: return "slow copies";
        case DelayCause::unknown: return "unknown";
    }
    return "";
}

Stragglers Stragglers::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    Stragglers none;
    bool any = std::any_of(matched.instances.begin(), matched.instances.end(),
                           [](const Instance& each) { return each.count > 1; });
    if (job.ranks.size() < 2)
        none.reason = "a job of one rank has no stragglers";
    else if (!any)
        none.reason =
            "no collective was found on two ranks: the recordings name no process groups, or are of other steps";
    else if (job.steps.empty())
        none.reason = "no steps were found";
    else if (const std::vector<bool>& compared = facts.get<Peers>().has_peers;
             std::find(compared.begin(), compared.end(), true) == compared.end())
        none.reason = fmt::format("no rank has {} others that do the same in a step, so nothing tells what is normal",
                                  kFewestPeers - 1);
    if (!none.reason.empty()) return none;
    return Pricing(facts).price();
}

std::string_view advice_on(DelayCause cause) {
    switch (cause) {
        case DelayCause::slow_gpu:
            return "Compare the clock, temperature, power limit and throttle reasons of this GPU with those of its "
                   "peers (gpu-profile top); if they agree, run the job without this GPU.";
        case DelayCause::more_work:
            return "Balance the work: compare the sequence lengths, experts or layers of this rank with those of its "
                   "peers.";
        case DelayCause::late_data:
            return "Prepare batches earlier: more DataLoader workers or a larger prefetch_factor; compare the storage "
                   "and CPU load of this host with those of the others.";
        case DelayCause::pause:
            return "Find what runs in these steps: a checkpoint, an evaluation, a garbage collection. Collect garbage "
                   "in the same step on all ranks (gc.disable(), then gc.collect()).";
        case DelayCause::slow_host:
            return "Compare the CPU load, frequency and pinning of this host with those of the others; a CUDA graph "
                   "needs fewer launches.";
        case DelayCause::slow_link:
            return "Check the network cards, cables and switch ports of these ranks, and the paths that NCCL chose "
                   "(NCCL_DEBUG=INFO).";
        case DelayCause::copies:
            return "Copy from pinned memory, and compare the PCIe generation and width of this GPU with those of its "
                   "peers (nvidia-smi -q).";
        case DelayCause::unknown: return "Open the recording of this rank at a step in which it is late.";
    }
    return "";
}

}  // namespace gpuprof::ranks
