#include "analyze/facts/energy/power_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline facts {
namespace {

// Tolerance for uneven steps of the counter: an H200 renews it every 92 to 108 ms.
constexpr double kStepSpread = 1.15;

struct Raw {
    std::vector<PowerSample> power;
    std::vector<CounterReading> counter;
};

std::map<std::int32_t, Raw> gather(const Facts& facts) {
    const Trace& trace = facts.trace();
    const SampleTable& samples = trace.tables().sample;
    StringId power = trace.strings().find(spec_of(Metric::power).name),
             energy = trace.strings().find(spec_of(Metric::energy).name);
    std::int64_t only = facts.options().device;
    std::map<std::int32_t, Raw> found;
    for (Row row = 0; row < samples.rows; ++row) {
        StringId metric = samples.metric.value_or(row, kNoString);
        if (metric == kNoString || (metric != power && metric != energy)) continue;
        if (samples.pid.has(row) || !samples.value.has(row) || !samples.time.has(row)) continue;
        double value = samples.value[row];
        std::int32_t device = samples.device.value_or(row, -1);
        if (!std::isfinite(value) || value < 0 || (only >= 0 && device != only)) continue;
        if (metric == power)
            found[device].power.push_back({samples.time[row], value});
        else
            found[device].counter.push_back({samples.time[row], value, 0, false});
    }
    return found;
}

// Sorted, one value per time.
template <class Value>
void sort_and_unique(std::vector<Value>& values) {
    auto earlier = [](const Value& a, const Value& b) { return a.time < b.time; };
    if (!std::is_sorted(values.begin(), values.end(), earlier)) std::stable_sort(values.begin(), values.end(), earlier);
    auto same = [](const Value& a, const Value& b) { return a.time == b.time; };
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
}

// Keeps the longest stretch of time in which the counter did not go back.
bool cut_at_resets(std::vector<CounterReading>& counter) {
    std::size_t begin = 0, best_begin = 0, best_end = 0;
    DurNs best = -1;
    for (std::size_t i = 1; i <= counter.size(); ++i) {
        if (i < counter.size() && counter[i].joules >= counter[i - 1].joules) continue;
        DurNs length = counter[i - 1].time - counter[begin].time;
        if (length > best) {
            best = length;
            best_begin = begin;
            best_end = i;
        }
        begin = i;
    }
    bool reset = best_end - best_begin < counter.size();
    counter = {counter.begin() + static_cast<std::ptrdiff_t>(best_begin),
               counter.begin() + static_cast<std::ptrdiff_t>(best_end)};
    return reset;
}

// The longest possible time between two steps: n changes after the first one are at least n steps.
std::optional<DurNs> step_of(const std::vector<CounterReading>& counter) {
    std::optional<DurNs> step;
    TimeNs before_first = 0;
    DurNs changes = 0;
    for (std::size_t i = 1; i < counter.size(); ++i) {
        if (counter[i].joules == counter[i - 1].joules) continue;
        if (changes == 0) before_first = counter[i - 1].time;
        if (changes > 0) {
            DurNs longest = (counter[i].time - before_first) / changes;
            step = std::min(step.value_or(longest), longest);
        }
        ++changes;
    }
    return step;
}

void find_ages(std::vector<CounterReading>& counter, DurNs step) {
    counter.front().max_age = step;
    for (std::size_t i = 1; i < counter.size(); ++i) {
        DurNs since = counter[i].time - counter[i - 1].time;
        counter[i].changed = counter[i].joules != counter[i - 1].joules;
        counter[i].max_age = std::min(step, counter[i].changed ? since : counter[i - 1].max_age + since);
    }
}

}  // namespace

PowerSeriesOfDevices PowerSeriesOfDevices::make(const Facts& facts) {
    PowerSeriesOfDevices all;
    for (auto& [device, raw] : gather(facts)) {
        PowerSeries& series = all.devices.emplace_back();
        series.device = device;
        sort_and_unique(raw.power);
        sort_and_unique(raw.counter);
        series.power = std::move(raw.power);
        series.counter_readings = raw.counter.size();
        series.reset = cut_at_resets(raw.counter);
        std::optional<DurNs> step = step_of(raw.counter);
        if (!step) continue;
        series.counter_step = static_cast<DurNs>(kStepSpread * static_cast<double>(*step));
        series.counter = std::move(raw.counter);
        find_ages(series.counter, series.counter_step);
    }
    return all;
}

const PowerSeries* PowerSeriesOfDevices::of(std::int32_t device) const {
    for (const PowerSeries& series : devices)
        if (series.device == device) return &series;
    return nullptr;
}

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
        if (reading.changed && reading.max_age <= kMaxAge) {
            sum += reading.max_age;
            ++count;
        }
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
