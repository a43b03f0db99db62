#include "core/analyze/ranks/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/analyze/ranks/job.h"
#include "core/analyze/ranks/match.h"
#include "core/analyze/ranks/peers.h"
#include "core/analyze/ranks/quantile.h"
#include "core/analyze/ranks/replay.h"
#include "core/analyze/ranks/slow_units.h"

namespace gpuprof {
namespace {

constexpr double kMaterial = 0.01;  // of the step: what is worth naming
constexpr double kCertain = 3;      // times its error
constexpr double kShareOfSteps = 0.2;

// The standard error of a mean, from the usual deviation: a delay in a few steps does not count as noise.
double error_of(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    double median = median_of(values);
    std::vector<double> distances;
    for (double value : values) distances.push_back(std::abs(value - median));
    return 1.4826 * median_of(distances) / std::sqrt(static_cast<double>(values.size()));
}

class Pricing {
public:
    explicit Pricing(const Facts& facts)
        : facts_(facts),
          job_(facts.get<RankJob>()),
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
        std::vector<SlowUnit> units = slow_units(facts_, found.step_ns);
        for (SlowUnit& unit : units) set_cost(unit, found);
        std::vector<DurNs> all = all_fixed(units);
        for (SlowUnit& unit : units) set_alone(unit, units, all);
        for (SlowUnit& unit : units) found.units.push_back(std::move(unit.unit));
        for (Straggler& unit : found.units) unit.named = is_certain(unit, found.step_ns);
        std::stable_sort(found.units.begin(), found.units.end(), [](const Straggler& a, const Straggler& b) {
            if (a.named != b.named) return a.named;
            return a.cost_ns != b.cost_ns ? a.cost_ns > b.cost_ns : a.alone_ns > b.alone_ns;
        });
        return found;
    }

private:
    std::vector<DurNs> run(const JobTimes& times) const { return replay_.lengths(replay_.run(times, peers_.order)); }

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
            times.lead[i] = peers_.times.lead[i];
            times.waited_for[i] = peers_.times.waited_for[i];
        }
        for (std::uint32_t i : unit.transfer) times.transfer[i] = peers_.times.transfer[i];
    }

    std::vector<DurNs> all_fixed(const std::vector<SlowUnit>& units) const {
        JobTimes times = replay_.recorded;
        for (const SlowUnit& unit : units) fix(unit, times);
        return run(times);
    }

    void set_cost(SlowUnit& unit, const Stragglers& found) {
        JobTimes times = replay_.recorded;
        fix(unit, times);
        std::vector<double> gains = differences(found.recorded, run(times));
        double sum = 0;
        for (double gain : gains) sum += gain;
        unit.unit.cost_ns = sum / static_cast<double>(std::max<std::size_t>(gains.size(), 1));
        unit.unit.error_ns = error_of(gains);
        count_steps(unit.unit, gains, found.step_ns);
    }
    // What the job would still lose by this unit if all others were fixed.
    void set_alone(SlowUnit& unit, const std::vector<SlowUnit>& units, const std::vector<DurNs>& without_any) {
        JobTimes times = replay_.recorded;
        for (const SlowUnit& other : units)
            if (&other != &unit) fix(other, times);
        std::vector<double> losses = differences(run(times), without_any);
        double sum = 0;
        for (double loss : losses) sum += loss;
        unit.unit.alone_ns = sum / static_cast<double>(std::max<std::size_t>(losses.size(), 1));
        if (unit.unit.alone_ns <= unit.unit.cost_ns) return;
        unit.unit.error_ns = std::max(unit.unit.error_ns, error_of(losses));
        count_steps(unit.unit, losses, replay_.mean_of(without_any));
    }
    void count_steps(Straggler& unit, const std::vector<double>& gains, double step_ns) const {
        unit.steps = 0;
        for (std::size_t i = 0; i < gains.size() && counted_[i] < job_.steps.size(); ++i) {
            if (gains[i] < kMaterial * step_ns) continue;
            if (unit.steps++ == 0) unit.first_step = job_.steps[counted_[i]];
            unit.last_step = job_.steps[counted_[i]];
        }
    }
    bool is_certain(const Straggler& unit, double step_ns) const {
        double price = std::max(unit.cost_ns, unit.alone_ns);
        auto steps = static_cast<double>(counted_.size());
        bool often = unit.steps >= kFewestSteps || static_cast<double>(unit.steps) >= kShareOfSteps * steps;
        return price >= kMaterial * step_ns && price >= kCertain * unit.error_ns && unit.steps > 0 && often &&
               counted_.size() >= kFewestSteps;
    }

    const Facts& facts_;
    const RankJob& job_;
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
    const RankJob& job = facts.get<RankJob>();
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

}  // namespace gpuprof
