#include "analyze/facts/energy/power_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyze/facts/energy/regression.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinReadings = 40;
constexpr std::size_t kMinBlocks = 5, kMaxBlocks = 20;
constexpr DurNs kCounterBlock = 1'000'000'000, kPowerBlock = 2'000'000'000;  // longer than what a reading covers
constexpr double kCounterStep_s = 0.1;
constexpr double kRidge = 1e-6;        // of a mean square of shares, to compare sensors while states are not merged
constexpr double kUnexplained = 0.25;  // of the mean power
constexpr double kSlack = 8;           // other sensors: sum of squares within 1 + kSlack / independent readings
// A spread that halves an estimate takes another sixth of the true value when it is doubled: a third of what is missing.
constexpr double kExtrapolated = 3;
constexpr double kMinCurvedSpread = 0.1;  // shares must vary this much (highest - lowest) to show a curve
constexpr double kCurved = 0.1;           // of a state's power, by which it may bend
constexpr double kCurvedErrors = 3;       // standard errors of a bend that is not noise

using Rows = std::vector<std::vector<double>>;
using Solutions = std::vector<std::vector<double>>;

double student_t95(std::size_t degrees) {
    auto v = static_cast<double>(degrees);
    return 1.96 + 2.4 / v + 3 / (v * v);  // within 0.03 of the quantile from 4 degrees on
}

// The standard error of a figure from its values with one block left out each.
double jackknife(const std::vector<double>& values) {
    auto n = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (double value : values) mean += value / n;
    for (double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt((n - 1) / n * squares);
}

// Least squares over all blocks, and over all but one each.
struct BlockFit {
    NormalEquations whole;
    std::optional<std::vector<double>> solved;
    std::optional<Solutions> without;

    explicit BlockFit(const std::vector<NormalEquations>& parts) : whole(parts.front().columns()) {
        for (const NormalEquations& part : parts) whole.add(part);
        solved = whole.solve();
        without.emplace();
        for (const NormalEquations& part : parts) {
            NormalEquations rest = whole;
            rest.add(part, -1);
            std::optional<std::vector<double>> each = rest.solve();
            if (!each) {
                without.reset();
                return;
            }
            without->push_back(std::move(*each));
        }
    }
    bool known() const { return solved && without; }
};

// Values as much beyond `plain` as `spread` falls short of it, times the worst factor.
std::vector<double> beyond(const std::vector<double>& plain, const std::vector<double>& spread) {
    std::vector<double> watts;
    for (std::size_t g = 0; g < plain.size(); ++g) watts.push_back(plain[g] + kExtrapolated * (plain[g] - spread[g]));
    return watts;
}

}  // namespace

// The readings as equations, in blocks.
class PowerModel::Fitting {
public:
    // Fills a row of columns from the shares of all states.
    using Columns = std::function<void(const std::vector<double>&, std::vector<double>&)>;

    Fitting(PowerReadings readings, const WorkStates& states) : readings_(std::move(readings)), states_(states) {
        if (size() < kMinReadings) return;
        DurNs span = readings_.readings.back().time - readings_.readings.front().time;
        blocks_ = std::min(static_cast<std::size_t>(span / block()), kMaxBlocks);
        for (const PowerReading& reading : readings_.readings) mean_w_ += reading.watts / static_cast<double>(size());
    }
    std::size_t size() const { return readings_.readings.size(); }
    DurNs block() const { return readings_.of_counter ? kCounterBlock : kPowerBlock; }
    std::size_t blocks() const { return blocks_; }
    double mean_w() const { return mean_w_; }
    const PowerReadings& readings() const { return readings_; }
    Rows rows(PowerSensor sensor) const { return readings_.shares(states_, sensor); }
    // The sum of squares up to which a sensor may be the true one.
    double limit(double least, PowerSensor sensor) const {
        double exact = 1e-9 * mean_w_ * mean_w_ * static_cast<double>(size());
        return least * (1 + kSlack / readings_.independent(sensor)) + exact;
    }
    std::vector<NormalEquations> equations(const Rows& rows, std::size_t columns, const Columns& make) const {
        std::vector<NormalEquations> parts(blocks_, NormalEquations(columns));
        std::vector<double> row(columns);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            make(rows[i], row);
            parts[i * blocks_ / rows.size()].add(row, readings_.readings[i].watts);
        }
        return parts;
    }
    // Columns are the shares of groups, and zeros behind them.
    static Columns by_group(const std::vector<std::uint32_t>& group_of) {
        return [&group_of](const std::vector<double>& shares, std::vector<double>& to) {
            std::fill(to.begin(), to.end(), 0);
            for (std::size_t state = 0; state < shares.size(); ++state) to[group_of[state]] += shares[state];
        };
    }

private:
    PowerReadings readings_;
    const WorkStates& states_;
    std::size_t blocks_ = 0;
    double mean_w_ = 0;
};

PowerModel::PowerModel(const PowerSeries& series, const WorkStates& states, double most_w)
    : group_of_(states.size(), 0), most_w_(most_w) {
    Fitting fitting(PowerReadings::of(series, states.window()), states);
    if (fitting.size() < kMinReadings)
        because_ = fmt::format("{} power readings during the recorded work are too few (at least {})", fitting.size(),
                               kMinReadings);
    else if (fitting.blocks() < kMinBlocks)
        because_ =
            fmt::format("{:.1f} s of recorded work are too short for a model (at least {:.0f} s of power readings)",
                        static_cast<double>(states.window().length()) / kNsPerSecond,
                        static_cast<double>(kMinBlocks) * static_cast<double>(fitting.block()) / kNsPerSecond);
    if (!known()) return;
    find_groups(fitting, states);
    fit(fitting);
    if (known()) add_extrapolated(fitting);
    if (known()) check_curves(fitting, states);
}

// Of the sensors that may be the true one, the one that tells the fewest states apart decides.
void PowerModel::find_groups(const Fitting& fitting, const WorkStates& states) {
    std::vector<PowerSensor> sensors = fitting.readings().sensors();
    std::vector<double> residuals;
    for (const PowerSensor& sensor : sensors) {
        NormalEquations whole(states.size());
        auto plain = [](const std::vector<double>& shares, std::vector<double>& to) { to = shares; };
        for (const NormalEquations& part : fitting.equations(fitting.rows(sensor), states.size(), plain))
            whole.add(part);
        std::optional<std::vector<double>> solved = whole.solve(kRidge);
        residuals.push_back(solved ? whole.residual(*solved) : INFINITY);
    }
    double least = *std::min_element(residuals.begin(), residuals.end());
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        if (residuals[i] > fitting.limit(least, sensors[i])) continue;
        std::vector<StateGroup> apart =
            separable_states(fitting.rows(sensors[i]), states.size(), fitting.readings().min_share());
        if (groups_.empty() || apart.size() < groups_.size()) groups_ = std::move(apart);
    }
    std::vector<double> seconds = states.seconds_in(states.window());
    composition_.assign(states.size(), 0);
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
        std::stable_sort(groups_[g].begin(), groups_[g].end(),
                         [&](std::uint32_t a, std::uint32_t b) { return seconds[a] > seconds[b]; });
        double sum = 0;
        for (std::uint32_t state : groups_[g]) {
            group_of_[state] = g;
            sum += seconds[state];
        }
        for (std::uint32_t state : groups_[g]) composition_[state] = sum > 0 ? seconds[state] / sum : 0;
    }
}

// Keeps the fits of all sensors that explain the readings as well as the best one.
void PowerModel::fit(const Fitting& fitting) {
    struct Fitted {
        double residual;
        PowerSensor sensor;
        Candidate candidate;
    };
    std::vector<Fitted> fits;
    Fitting::Columns grouped = Fitting::by_group(group_of_);
    for (const PowerSensor& sensor : fitting.readings().sensors()) {
        BlockFit fit(fitting.equations(fitting.rows(sensor), groups_.size(), grouped));
        if (fit.known())
            fits.push_back({fit.whole.residual(*fit.solved), sensor, {*fit.solved, std::move(*fit.without)}});
    }
    if (fits.empty()) {
        because_ = "the shares of the classes vary in one part of the recording only";
        return;
    }
    std::stable_sort(fits.begin(), fits.end(), [](auto& a, auto& b) { return a.residual < b.residual; });
    chosen_ = fits.front().sensor;
    unexplained_w_ = std::sqrt(fits.front().residual / static_cast<double>(fitting.size()));
    average_s_ = chosen_.average > 0 ? static_cast<double>(chosen_.average) / kNsPerSecond : kCounterStep_s;
    if (unexplained_w_ > kUnexplained * fitting.mean_w()) {
        because_ = fmt::format("the recorded work does not explain the power: {:.0f} W of {:.0f} W vary without it",
                               unexplained_w_, fitting.mean_w());
        return;
    }
    double limit = fitting.limit(fits.front().residual, chosen_);
    for (Fitted& each : fits)
        if (each.residual <= limit) candidates_.push_back(std::move(each.candidate));
}

// The ages of values differ by up to a renewal, which no sensor of the grid describes and which weakens the estimates.
// Spreading the ages once more weakens them as much again: simulation-extrapolation (Cook and Stefanski, 1994).
void PowerModel::add_extrapolated(const Fitting& fitting) {
    PowerSensor spread = chosen_;
    spread.jitter = fitting.readings().age_spread;
    if (spread.jitter == 0) return;
    BlockFit fit(fitting.equations(fitting.rows(spread), groups_.size(), Fitting::by_group(group_of_)));
    if (!fit.known()) return;
    const Candidate& best = candidates_.front();
    Candidate extrapolated{beyond(best.watts, *fit.solved), best.without};
    for (std::vector<double>& each : extrapolated.without)
        for (std::size_t g = 0; g < each.size(); ++g) each[g] += extrapolated.watts[g] - best.watts[g];
    candidates_.push_back(std::move(extrapolated));
}

// A state whose power changes with its share does not have one power: the square of its share explains readings.
void PowerModel::check_curves(const Fitting& fitting, const WorkStates& states) {
    Rows rows = fitting.rows(chosen_);
    Fitting::Columns grouped = Fitting::by_group(group_of_);
    std::size_t last = groups_.size();
    for (std::size_t g = 0; g < last; ++g) {
        double low = INFINITY, high = 0;
        auto curved = [&](const std::vector<double>& shares, std::vector<double>& to) {
            grouped(shares, to);
            to.back() = to[g] * to[g];
            low = std::min(low, to[g]);
            high = std::max(high, to[g]);
        };
        std::vector<NormalEquations> parts = fitting.equations(rows, last + 1, curved);
        if (high - low < kMinCurvedSpread) continue;
        BlockFit fit(parts);
        std::optional<std::vector<double>> inverse = fit.whole.inverse();
        if (!fit.known() || !inverse) continue;
        double own = std::sqrt(1 / ((*inverse)[last * (last + 1) + last] * fit.whole.rows()));
        if (own < fitting.readings().min_share()) continue;
        std::vector<double> curves;
        for (const std::vector<double>& each : *fit.without) curves.push_back(each.back());
        double curve = std::abs(fit.solved->back());
        double bend = curve * (high - low) * (high - low) / 4;
        if (curve > kCurvedErrors * jackknife(curves) && bend > kCurved * std::abs(candidates_.front().watts[g]))
            because_ = fmt::format("the power of {} changes with its share of the time, as when a board throttles",
                                   states.names()[groups_[g].front()]);
    }
}

EnergyEstimate PowerModel::combined(const std::vector<double>& seconds_of_group) const {
    auto energy = [&](const std::vector<double>& watts) {
        double joules = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) joules += watts[g] * seconds_of_group[g];
        return joules;
    };
    double estimate = energy(candidates_.front().watts), off = 0;
    for (const Candidate& candidate : candidates_) {
        std::vector<double> values;
        for (const std::vector<double>& each : candidate.without) values.push_back(energy(each));
        double error = student_t95(values.size() - 1) * jackknife(values);
        off = std::max(off, std::abs(energy(candidate.watts) - estimate) + error);
    }
    return {EnergySource::model, estimate, off + kSensorGain * std::abs(estimate), {}};
}

EnergyEstimate PowerModel::energy(const std::vector<double>& seconds) const {
    if (!known()) return {EnergySource::none, 0, 0, because_};
    std::vector<double> of_group(groups_.size(), 0);
    double all = 0, off = 0;
    for (std::size_t state = 0; state < seconds.size(); ++state) {
        of_group[group_of_[state]] += seconds[state];
        all += seconds[state];
    }
    // States of a group in other proportions than overall: any of them may draw all the power.
    for (std::size_t state = 0; state < seconds.size(); ++state)
        off += std::abs(seconds[state] - composition_[state] * of_group[group_of_[state]]) / 2 * most_w_;
    // What the states do not explain of a reading varies from interval to interval, the more the shorter it is.
    off += 2 * unexplained_w_ * std::sqrt(average_s_ * all);
    EnergyEstimate found = combined(of_group);
    found.uncertainty_j += off;
    return found;
}

EnergyEstimate PowerModel::energy_of_group(std::uint32_t group, const std::vector<double>& seconds) const {
    if (!known()) return {EnergySource::none, 0, 0, because_};
    std::vector<double> of_group(groups_.size(), 0);
    for (std::uint32_t state : groups_[group]) of_group[group] += seconds[state];
    return combined(of_group);
}

}  // namespace gpuprof::facts
