#include "analyze/facts/energy/power_series.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/facts/facts.h"
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
        if (length > best) best = length, best_begin = begin, best_end = i;
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
        sort_and_unique(raw.power), sort_and_unique(raw.counter);
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

}  // namespace gpuprof::facts
