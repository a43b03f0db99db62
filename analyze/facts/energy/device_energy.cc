#include "analyze/facts/energy/device_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline facts {
namespace {

// Mean age of a power value: 0 for an instantaneous sensor, 0.6 s for a mean over one second that is up to 0.1 s old.
// Samples are taken to be this much older than they are; the rest lies on either side.
constexpr DurNs kShift = 300'000'000;
constexpr DurNs kLookBack = 1'000'000'000, kLookAhead = 1'200'000'000;  // samples that show power around a time
constexpr double kHidden_s = 0.125;                                     // an eighth of the longest averaging window
constexpr double kReading_s = 0.01;                                     // reading the counter takes milliseconds
// Boards exceed their highest sample for moments: an H200 of 700 W used 85 J in 100 ms.
constexpr double kOverHighest = 1.25, kUnderLowest = 0.5, kMaxBoard_w = 1500;
constexpr double kMinShare = 0.02;

double seconds(DurNs ns) { return static_cast<double>(ns) / kNsPerSecond; }

}  // namespace

std::string_view name_of(EnergySource source) {
    switch (source) {
        case EnergySource::counter: return "counter";
        case EnergySource::power: return "power samples";
        case EnergySource::model: return "model";
        case EnergySource::none: break;
    }
    return "";
}

EnergyCurve::EnergyCurve(const PowerSeries& series, const IntervalSet* busy) : series_(&series), busy_(busy) {
    const std::vector<PowerSample>& power = series.power;
    std::size_t changed = 0;  // the last sample with a new value
    double usual =
        power.size() > 1 ? seconds(power.back().time - power.front().time) / static_cast<double>(power.size() - 1) : 0;
    for (std::size_t i = 0; i < power.size(); ++i) {
        double pause = i > 0 ? seconds(power[i].time - power[i - 1].time) : 0;
        integral_.push_back(i > 0 ? integral_[i - 1] + pause * (power[i].watts + power[i - 1].watts) / 2 : 0);
        unseen_.push_back(i > 0 ? unseen_[i - 1] + std::max(0.0, pause - 3 * usual - 0.2) : 0);
        squares_.push_back(i > 0 ? squares_[i - 1] : 0);
        if (i > 0 && power[i].watts == power[changed].watts) continue;
        double held = seconds(power[i].time - power[changed].time);
        double change = power[i].watts - power[changed].watts;
        squares_.back() += held * held * change * change / 2;
        changed = i;
    }
    find_limits();
}

void EnergyCurve::find_limits() {
    double highest = 0, lowest = kMaxBoard_w;
    for (const PowerSample& sample : series_->power) {
        highest = std::max(highest, sample.watts);
        lowest = std::min(lowest, sample.watts);
    }
    const std::vector<CounterReading>& counter = series_->counter;
    std::size_t from = 0;
    for (std::size_t i = 1; i < counter.size(); ++i) {
        if (!counter[i].changed) continue;
        double joules = counter[i].joules - counter[from].joules;
        DurNs between = counter[i].time - counter[from].time;
        if (between > counter[i].max_age) lowest = std::min(lowest, joules / seconds(between + counter[from].max_age));
        highest = std::max(highest, joules / seconds(between + counter[from].max_age));
        from = i;
    }
    // Bursts that samples average out: the less of the time the device works, the higher they may be.
    double share = 0;
    if (busy_ != nullptr && !busy_->empty())
        share = seconds(length(*busy_)) / seconds(busy_->back().end - busy_->front().start);
    most_w_ = kOverHighest * highest / std::max(share, kMinShare);
    most_w_ = std::max(std::min(most_w_, kMaxBoard_w), kOverHighest * highest);
    least_w_ = kUnderLowest * std::min(lowest, highest);
}

Interval EnergyCurve::sampled() const {
    Interval all{INT64_MAX, INT64_MIN};
    auto cover = [&](const auto& values) {
        if (values.empty()) return;
        all.start = std::min(all.start, values.front().time);
        all.end = std::max(all.end, values.back().time);
    };
    cover(series_->power);
    cover(series_->counter);
    return all.start <= all.end ? all : Interval{};
}

std::size_t EnergyCurve::power_before(TimeNs at) const {
    auto after = std::upper_bound(series_->power.begin(), series_->power.end(), at,
                                  [](TimeNs time, const PowerSample& sample) { return time < sample.time; });
    return static_cast<std::size_t>(after - series_->power.begin());
}

// Difference between the highest and the lowest sample around a time.
double EnergyCurve::visible_spread(TimeNs at) const {
    std::size_t first = power_before(at - kLookBack), last = power_before(at + kLookAhead);
    if (first > 0) --first;
    double low = INFINITY, high = 0;
    for (std::size_t i = first; i < std::min(last + 1, series_->power.size()); ++i) {
        low = std::min(low, series_->power[i].watts);
        high = std::max(high, series_->power[i].watts);
    }
    return std::max(0.0, high - low);
}

// Energy that the integral may put on the wrong side of a time.
double EnergyCurve::misplaced(TimeNs at) const {
    bool works = busy_ == nullptr || length_within(*busy_, {at - kLookBack, at + kShift / 3}) > 0;
    double hidden = works ? kHidden_s * (most_w_ - least_w_) : 0;
    TimeNs first = series_->power.front().time - kShift, last = series_->power.back().time - kShift;
    double outside = seconds(std::max<DurNs>({0, first - at, at - last})) * (most_w_ - least_w_);
    return seconds(kShift) * visible_spread(at) + hidden + outside;
}

// J up to a time, from the first sample; before and after the samples, power is that of the nearest.
double EnergyCurve::integral(TimeNs at) const {
    const std::vector<PowerSample>& power = series_->power;
    at += kShift;
    std::size_t next = power_before(at);
    if (next == 0) return seconds(at - power.front().time) * power.front().watts;
    const PowerSample& before = power[next - 1];
    double since = seconds(at - before.time);
    if (next == power.size()) return integral_.back() + since * before.watts;
    double slope = (power[next].watts - before.watts) / seconds(power[next].time - before.time);
    return integral_[next - 1] + since * (before.watts + slope * since / 2);
}

double EnergyCurve::unseen_s(Interval within) const {
    auto upto = [&](TimeNs at) { return unseen_[std::min(power_before(at), unseen_.size() - 1)]; };
    return upto(within.end) - upto(within.start);
}

// Two standard errors of an integral whose samples are instantaneous.
double EnergyCurve::sampling_error(Interval within) const {
    auto upto = [&](TimeNs at) { return squares_[std::min(power_before(at), squares_.size() - 1)]; };
    return 2 * std::sqrt(std::max(0.0, upto(within.end + kShift) - upto(within.start + kShift)));
}

EnergyEstimate EnergyCurve::by_power(Interval within) const {
    if (series_->power.size() < 2) return {};
    double joules = integral(within.end) - integral(within.start);
    double range = most_w_ - least_w_;
    double off = misplaced(within.start) + misplaced(within.end) + unseen_s(within) * range + sampling_error(within);
    return {EnergySource::power, joules, off, {}};
}

// Bounds of the counter's true value at a time, from the readings around it and the last and next one that changed.
EnergyCurve::Bounds EnergyCurve::counted(TimeNs at) const {
    const std::vector<CounterReading>& counter = series_->counter;
    auto after = std::upper_bound(counter.begin(), counter.end(), at,
                                  [](TimeNs time, const CounterReading& reading) { return time < reading.time; });
    Bounds bounds{-INFINITY, INFINITY};
    auto apply = [&](const CounterReading& reading) {
        TimeNs earliest = reading.time - reading.max_age;
        double high = reading.joules + seconds(at - earliest) * (at >= earliest ? most_w_ : least_w_);
        double low = reading.joules + seconds(at - reading.time) * (at >= reading.time ? least_w_ : most_w_);
        bounds.low = std::max(bounds.low, low);
        bounds.high = std::min(bounds.high, high);
    };
    auto first = after;
    while (first != counter.begin()) {
        --first;
        apply(*first);
        if (first->changed) break;
    }
    for (auto next = after; next != counter.end(); ++next) {
        apply(*next);
        if (next->changed) break;
    }
    return bounds;
}

bool EnergyCurve::counter_covers(Interval within) const {
    const std::vector<CounterReading>& counter = series_->counter;
    if (counter.size() < 2) return false;
    return within.start >= counter.front().time - series_->counter_step &&
           within.end <= counter.back().time + series_->counter_step;
}

EnergyEstimate EnergyCurve::by_counter(Interval within) const {
    if (!counter_covers(within)) return {};
    Bounds start = counted(within.start), end = counted(within.end);
    // Between readings that are far apart, power samples say more than the limits of the board.
    if (series_->power.size() >= 2) {
        auto narrow = [&](TimeNs at, Bounds& bounds) {
            const std::vector<CounterReading>& counter = series_->counter;
            auto after = std::upper_bound(counter.begin(), counter.end(), at,
                                          [](TimeNs time, const CounterReading& r) { return time < r.time; });
            if (after == counter.begin() || after == counter.end()) return;
            const CounterReading &before = *(after - 1), &next = *after;
            double whole = integral(next.time) - integral(before.time), counted_j = next.joules - before.joules;
            if (!(whole > 0)) return;
            double here = before.joules + counted_j / whole * (integral(at) - integral(before.time));
            double ages = seconds(std::max(before.max_age, next.max_age)) * most_w_;
            double off = misplaced(at) + std::max(misplaced(before.time), misplaced(next.time)) + ages +
                         sampling_error({before.time, at}) + unseen_s({before.time, next.time}) * (most_w_ - least_w_);
            if (here - off > bounds.high || here + off < bounds.low) return;
            bounds.low = std::max(bounds.low, here - off);
            bounds.high = std::min(bounds.high, here + off);
        };
        narrow(within.start, start);
        narrow(within.end, end);
    }
    double low = end.low - start.high, high = end.high - start.low;
    return {EnergySource::counter, (low + high) / 2, (high - low) / 2 + kReading_s * most_w_, {}};
}

EnergyEstimate EnergyCurve::raw(Interval within) const {
    EnergyEstimate best = by_counter(within), other = by_power(within);
    if (!best || (other && other.uncertainty_j < best.uncertainty_j)) best = other;
    if (!best) {
        best.because = "the energy counter was not read around the interval";
        if (series_->counter.empty()) best.because = "the energy counter did not change twice";
        if (series_->reset) best.because = "the energy counter was reset";
        if (series_->counter_readings == 0) best.because = "a single power sample is not enough";
        return best;
    }
    // No more than the board can draw, no less than it draws when idle.
    double least = seconds(within.length()) * least_w_, most = seconds(within.length()) * most_w_;
    double low = std::max(best.joules - best.uncertainty_j, least);
    double high = std::min(best.joules + best.uncertainty_j, most);
    if (low <= high && (low == least || high == most)) {
        best.joules = std::clamp(best.joules, low, high);
        best.uncertainty_j = std::max(high - best.joules, best.joules - low);
    }
    best.uncertainty_j += kSensorGain * best.joules;
    return best;
}

EnergyEstimate EnergyCurve::over(Interval within) const {
    EnergyEstimate found = raw(within);
    if (!found || found.useful()) return found;
    return {EnergySource::none, 0, 0,
            fmt::format("{} is too short for the sensor: {:.3g} J +- {:.3g} J", readable_duration(within.length()),
                        found.joules, found.uncertainty_j)};
}

DeviceEnergies DeviceEnergies::make(const Facts& facts) {
    DeviceEnergies all;
    const std::vector<DeviceActivity>& active = facts.get<Activity>().devices;
    for (const PowerSeries& series : facts.get<PowerSeriesOfDevices>().devices) {
        auto works = std::find_if(active.begin(), active.end(),
                                  [&](const DeviceActivity& device) { return device.device == series.device; });
        all.curves.emplace_back(series, works == active.end() ? nullptr : &works->busy);
    }
    return all;
}

const EnergyCurve* DeviceEnergies::of(std::int32_t device) const {
    for (const EnergyCurve& curve : curves)
        if (curve.device() == device) return &curve;
    return nullptr;
}

std::string DeviceEnergies::absent_because(const Facts& facts, std::int32_t device) {
    if (facts.get<PowerSeriesOfDevices>().devices.empty())
        return "no power was sampled; gpu-profile record samples it unless --sample 0 is given";
    return fmt::format("no power of device {} was sampled", device);
}

}  // namespace gpuprof::facts
