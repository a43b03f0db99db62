// A device of known power per class of work, and sensors as drivers have them: power as the mean of a window before the
// last renewal, with a gain error; a counter in steps. It draws a trace and knows the truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {

struct Sensors {
    double average_s = 1.0;   // of power; 0: instantaneous
    double renewed_s = 0.1;   // power and counter
    double interval_s = 0.1;  // between samples
    double jitter_s = 0.004;
    double gain = 1.0;
    double noise_w = 2;
    int counter_at_start = 15;  // readings every 20 ms, as the recorder does; then every 10 s and at the end
    bool counter_with_samples = false;
    bool counter = true, power = true;
};

class SimulatedDevice {
public:
    explicit SimulatedDevice(std::uint64_t seed) : random_(seed) {}

    std::map<std::string, double> watts;  // by kernel name; "" is idle
    Draft draft;

    double pick(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
    void run(const std::string& kernel, double seconds) { run(kernel, seconds, watts.at(kernel)); }
    void run(const std::string& kernel, double seconds, double power) {
        TimeNs start = now(), end = start + static_cast<DurNs>(seconds * 1e9);
        if (!kernel.empty()) {
            std::int64_t id = ++correlation_;
            draft.call("main", start - 2000, start - 1000, "cudaLaunchKernel", id);
            draft.kernel(0, 7, start, end, kernel, id);
        }
        double joules = power * static_cast<double>(end - start) / 1e9;
        joules_[kernel] += joules;
        times_.push_back(end), sums_.push_back(sums_.back() + joules);
    }
    TimeNs now() const { return times_.back(); }
    double joules(const std::string& kernel) const { return joules_.at(kernel); }
    double joules(Interval within) const { return upto(within.end) - upto(within.start); }

    void sample(const Sensors& sensors) {
        double phase = pick(0, sensors.renewed_s), end = seconds(now()), start = seconds(times_.front());
        auto renewal = [&](double at) {
            return phase + sensors.renewed_s * std::floor((at - phase) / sensors.renewed_s);
        };
        auto counter = [&](double at) { put("energy", at, 1000 + sensors.gain * upto(ns(renewal(at)))); };
        double last_counter = start;
        for (double at = start; sensors.power && at < end; at += sensors.interval_s + pick(-1, 1) * sensors.jitter_s) {
            double to = renewal(at), from = to - std::max(sensors.average_s, 0.001);
            double mean = (upto(ns(to)) - upto(ns(from))) / (to - from);
            put("power", at, std::max(0.0, sensors.gain * mean + noise(to, sensors.noise_w)));
            if (sensors.counter && (sensors.counter_with_samples || at - last_counter >= 10))
                counter(at), last_counter = at;
        }
        if (!sensors.counter) return;
        for (int i = 0; i < sensors.counter_at_start; ++i) counter(start + 0.02 * i + pick(0, 0.002));
        counter(end);
    }

private:
    static double seconds(TimeNs time) { return static_cast<double>(time) / 1e9; }
    static TimeNs ns(double seconds) { return static_cast<TimeNs>(seconds * 1e9); }
    // Before the first time, the device idles.
    double upto(TimeNs time) const {
        if (time <= times_.front()) return seconds(time - times_.front()) * watts.at("");
        auto after = std::upper_bound(times_.begin(), times_.end(), time);
        if (after == times_.end()) return sums_.back() + seconds(time - times_.back()) * watts.at("");
        auto at = static_cast<std::size_t>(after - times_.begin());
        double share = seconds(time - times_[at - 1]) / seconds(times_[at] - times_[at - 1]);
        return sums_[at - 1] + share * (sums_[at] - sums_[at - 1]);
    }
    // The same at each reading of one value.
    double noise(double renewed, double deviation) {
        if (renewed != noise_at_) noise_at_ = renewed, noise_ = std::normal_distribution(0.0, deviation)(random_);
        return noise_;
    }
    void put(const char* metric, double at, double value) {
        SampleTable& samples = draft.tables().sample;
        Row row = samples.add();
        samples.time.set(row, ns(at)), samples.device.set(row, 0), samples.value.set(row, value);
        samples.metric.set(row, draft.intern(metric));
    }

    std::mt19937_64 random_;
    std::vector<TimeNs> times_{10'000'000'000};
    std::vector<double> sums_{0};
    std::map<std::string, double> joules_;
    std::int64_t correlation_ = 0;
    double noise_at_ = 0, noise_ = 0;
};

}  // namespace gpuprof
