#include "analyze/facts/energy/power_readings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/ids.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMs = 1'000'000;
constexpr std::array<DurNs, 9> kAverages = {10 * kMs,  25 * kMs,  50 * kMs,  100 * kMs, 200 * kMs,
                                            350 * kMs, 500 * kMs, 750 * kMs, 1000 * kMs};
constexpr std::array<DurNs, 4> kDelays = {0, 50 * kMs, 100 * kMs, 150 * kMs};
constexpr std::array<DurNs, 4> kCounterDelays = {0, 10 * kMs, 25 * kMs, 50 * kMs};
constexpr DurNs kRenewed = 100 * kMs;         // drivers renew power this often
constexpr DurNs kLongestCounted = 500 * kMs;  // steps of the counter farther apart show no more than power does
constexpr DurNs kMaxAge = 60 * kMs;           // of a reading of the counter that is used
constexpr DurNs kGoodAge = 12 * kMs;          // up to which they are better than power samples

// Steps of the counter, as the mean power from one to the next.
std::vector<PowerReading> counted(const PowerSeries& series) {
    std::vector<PowerReading> readings;
    const CounterReading* before = nullptr;
    for (const CounterReading& next : series.counter) {
        if (!next.changed) continue;
        bool timely = next.max_age <= kMaxAge;
        if (timely && before != nullptr && next.time - before->time <= kLongestCounted) {
            DurNs between = next.time - before->time;
            double watts = (next.joules - before->joules) / (static_cast<double>(between) / kNsPerSecond);
            readings.push_back({next.time, watts, between});
        }
        before = timely ? &next : nullptr;
    }
    return readings;
}

// Power samples; values that the driver only held are skipped.
std::vector<PowerReading> sampled(const PowerSeries& series) {
    std::vector<PowerReading> readings;
    for (const PowerSample& sample : series.power)
        if (readings.empty() || sample.watts != readings.back().watts || sample.time - readings.back().time >= kRenewed)
            readings.push_back({sample.time, sample.watts, 0});
    return readings;
}

void keep_within(std::vector<PowerReading>& readings, Interval work, DurNs longest) {
    std::erase_if(readings, [&](const PowerReading& reading) {
        return reading.time - longest < work.start || reading.time > work.end;
    });
}

// The mean age of the steps of the counter when they were read.
DurNs age_of_counter(const PowerSeries& series) {
    DurNs sum = 0, count = 0;
    for (const CounterReading& reading : series.counter)
        if (reading.changed && reading.max_age <= kMaxAge) sum += reading.max_age, ++count;
    return sum / std::max<DurNs>(count, 1);
}

}  // namespace

PowerReadings PowerReadings::of(const PowerSeries& series, Interval work) {
    std::vector<PowerReading> steps = counted(series), power = sampled(series);
    keep_within(steps, work, kLongestCounted + kCounterDelays.back());
    keep_within(power, work, kAverages.back() + kDelays.back());
    DurNs age = age_of_counter(series);
    bool covers = !steps.empty() && steps.back().time - steps.front().time >= work.length() / 2;
    if (covers && (age <= kGoodAge || power.size() < steps.size())) return {std::move(steps), true, age};
    if (power.empty()) return {};
    DurNs between = (series.power.back().time - series.power.front().time) / static_cast<DurNs>(series.power.size());
    return {std::move(power), false, std::min(kRenewed, between)};
}

std::vector<PowerSensor> PowerReadings::sensors() const {
    std::vector<PowerSensor> all;
    if (of_counter)
        for (DurNs delay : kCounterDelays) all.push_back({delay, 0, 0});
    else
        for (DurNs average : kAverages)
            for (DurNs delay : kDelays) all.push_back({delay, average, 0});
    return all;
}

double PowerReadings::independent(PowerSensor sensor) const {
    auto count = static_cast<double>(readings.size());
    if (sensor.average == 0) return count;
    return std::min(
        count, static_cast<double>(readings.back().time - readings.front().time) / static_cast<double>(sensor.average));
}

std::vector<std::vector<double>> PowerReadings::shares(const WorkStates& states, PowerSensor sensor) const {
    std::vector<std::vector<double>> rows;
    double turn = 0;  // evenly spread over [0, 1) by the golden ratio
    for (const PowerReading& reading : readings) {
        DurNs average = reading.average > 0 ? reading.average : sensor.average;
        turn = std::fmod(turn + 0.6180339887, 1);
        auto shift = static_cast<DurNs>((turn - 0.5) * static_cast<double>(sensor.jitter));
        TimeNs end = reading.time - sensor.delay - shift;
        std::vector<double>& row = rows.emplace_back(states.size(), 0);
        states.add_seconds({end - average, end}, row);
        for (double& each : row) each /= static_cast<double>(average) / kNsPerSecond;
    }
    return rows;
}

}  // namespace gpuprof::facts
