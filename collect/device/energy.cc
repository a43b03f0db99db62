#include "collect/device/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/ids.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline device {
namespace {

// Boards briefly exceed their power limit: an H200 of 700 W used 85 J in 100 ms. If the limit is unknown, the value
// exceeds any board's.
constexpr double kMaxPowerOverLimit = 1.25, kMaxBoardPower_w = 1500;
// Tolerance for uneven counter steps and for the milliseconds that reading the counter takes.
constexpr double kMaxRelativeSpread = 1.15, kReadingDuration_s = 0.01;
// Mean age of reported power: half of an average over one second, plus up to 0.1 s until it is renewed.
constexpr double kPowerAge_s = 0.6;
constexpr double kMaxRelativeError = 0.5;

double seconds(DurNs ns) { return static_cast<double>(ns) / kNsPerSecond; }

// Energy that the readings miss in the region, or include from outside.
double outside_s(RegionBounds region, TimeNs first, TimeNs last) {
    return seconds(std::abs(first - region.start)) + seconds(std::abs(last - region.end));
}

}  // namespace

std::string_view name_of(EnergyBasis basis) {
    switch (basis) {
        case EnergyBasis::counter: return "counter";
        case EnergyBasis::power: return "power";
        case EnergyBasis::none: break;
    }
    return "";
}

void EnergyMeter::add(const Reading& reading) {
    if (std::optional<double> joules = reading.get(Metric::energy)) add_counter(reading.time, *joules);
    if (std::optional<double> watts = reading.get(Metric::power)) add_power(reading.time, *watts);
}

void EnergyMeter::add_counter(TimeNs time, double joules) {
    auto& c = counter_;
    if (c.readings > 0 && time <= c.last_time) return;
    if (c.readings++ == 0) {
        c.first = joules;
        c.first_time = time;
    } else if (joules < c.last) {
        c.went_back = true;
    } else if (joules > c.last) {
        if (c.changes == 0) {
            c.first_step = joules - c.last;
            c.before_first_change = c.last_time;
        }
        // Since the first change the counter made at least `changes` steps.
        if (c.changes > 0) {
            DurNs longest = (time - c.before_first_change) / static_cast<DurNs>(c.changes);
            interval_ = std::min(interval_.value_or(longest), longest);
        }
        ++c.changes;
        c.before_last_change = c.last_time;
    }
    c.last = joules;
    c.last_time = time;
}

void EnergyMeter::add_power(TimeNs time, double watts) {
    auto& p = power_;
    if (p.readings > 0 && time <= p.last_time) return;
    if (p.readings == 0) {
        p.first_time = time;
    } else {
        double pause = seconds(time - p.last_time);
        p.integral += (watts + p.last) / 2 * pause;
        p.values += watts != p.last;
        if (p.readings > 1) {
            double usual = seconds(p.last_time - p.first_time) / static_cast<double>(p.readings - 1);
            p.unseen_s += std::max(0.0, pause - 3 * usual - 0.2);
        }
    }
    ++p.readings;
    double from_mean = watts - p.mean;
    p.mean += from_mean / static_cast<double>(p.readings);
    p.squares += from_mean * (watts - p.mean);
    p.max = std::max(p.max, watts);
    p.last = watts;
    p.last_time = time;
}

double EnergyMeter::max_power(std::optional<double> power_limit_w) const {
    return kMaxPowerOverLimit * std::max(power_limit_w.value_or(kMaxBoardPower_w / kMaxPowerOverLimit), power_.max);
}

std::optional<EnergyMeter::Estimate> EnergyMeter::by_counter(RegionBounds region, double most_w) const {
    if (!interval_ || counter_.went_back) return std::nullopt;
    const auto& c = counter_;
    double step_s = kMaxRelativeSpread * seconds(*interval_);
    // The step before the first reading is at most one interval old; the time without a change narrows this.
    double before_s = std::max(0.0, step_s - seconds(c.before_first_change - c.first_time));
    double too_much = std::min(c.first_step, before_s * most_w);
    double lacking = std::min(step_s, seconds(c.last_time - c.before_last_change)) * most_w;
    double elsewhere = (outside_s(region, c.first_time, c.last_time) + kReadingDuration_s) * most_w;
    return Estimate{c.last - c.first, std::max(too_much, lacking) + elsewhere};
}

std::optional<EnergyMeter::Estimate> EnergyMeter::by_power(RegionBounds region, double most_w) const {
    const auto& p = power_;
    if (p.readings < 2 || p.last_time <= p.first_time) return std::nullopt;
    double deviation = std::sqrt(p.squares / static_cast<double>(p.readings - 1));
    double sampling = 2 * deviation / std::sqrt(static_cast<double>(p.values)) * seconds(p.last_time - p.first_time);
    double misplaced = (kPowerAge_s + p.unseen_s + outside_s(region, p.first_time, p.last_time)) * most_w;
    return Estimate{p.integral, misplaced + sampling};
}

Energy EnergyMeter::over(RegionBounds region, std::optional<double> power_limit_w) const {
    double most_w = max_power(power_limit_w);
    auto useful = [](const std::optional<Estimate>& estimate) {
        return estimate && estimate->uncertainty_j <= kMaxRelativeError * estimate->joules;
    };
    std::optional<Estimate> counted = by_counter(region, most_w), integrated = by_power(region, most_w);
    if (useful(counted) && !(useful(integrated) && integrated->uncertainty_j < counted->uncertainty_j))
        return {EnergyBasis::counter, counted->joules, counted->uncertainty_j,
                fmt::format("energy_j comes from the device's energy counter, which updates at least every {}; error "
                            "up to {:.3g} J",
                            readable_duration(*interval_), counted->uncertainty_j)};
    if (useful(integrated))
        return {EnergyBasis::power, integrated->joules, integrated->uncertainty_j,
                fmt::format("energy_j is integrated from power samples, which the driver may average over 1 s; error "
                            "up to {:.3g} J "
                            "(95 % confidence)",
                            integrated->uncertainty_j)};
    if (counter_.readings == 0 && power_.readings == 0) return {};
    std::string why = "energy_j is absent: the region is too short";
    if (counter_.went_back)
        why += "; the energy counter was reset during the region";
    else if (counter_.readings > 0 && !interval_)
        why += "; the energy counter did not update twice";
    else if (interval_)
        why += fmt::format("; the energy counter updates every {} or faster", readable_duration(*interval_));
    if (power_.readings > 0) why += "; the driver may average power over 1 s";
    return {EnergyBasis::none, 0, 0, why};
}

}  // namespace gpuprof::device
