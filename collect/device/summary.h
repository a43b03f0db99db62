// The summary of one device over one sampled region, with the fields of core/schema/summary_fields.def, and the
// accumulator that builds it from a stream of readings in constant memory. Percentiles interpolate linearly between the
// closest ranks. Above `capacity` samples they come from a random subset of that size, and a note states the error.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/energy.h"
#include "core/base/ids.h"
#include "core/schema/summary_fields.def"

namespace gpuprof::inline device {

// A series of any length in at most 2 x kBins equal time slices: when it exceeds them, neighbours are merged. The
// data of a sparkline.
class TimeBins {
public:
    static constexpr std::size_t kBins = 48;

    // `width` is the initial length of a slice, > 0.
    explicit TimeBins(DurNs width) : width_(width) {}
    // Earlier times count towards the first slice.
    void add(TimeNs time, double value);
    // Means of at most kBins slices from the first time; absent for a slice without a value.
    std::vector<std::optional<double>> means() const;

private:
    struct Bin {
        double sum = 0;
        std::uint64_t count = 0;
    };
    void halve();

    DurNs width_;
    bool any_ = false;
    TimeNs origin_ = 0;
    std::vector<Bin> bins_;
};

// One block character per mean of 0..100 (eight levels); a blank if it is absent.
std::string sparkline(const std::vector<std::optional<double>>& means);

struct GpuSummary {
    using text = std::string;
    using count = std::int64_t;
    using real = std::optional<double>;
    using list = std::vector<std::string>;
#define GPUPROF_SUMMARY_MEMBER(type, name, unit, doc) type name{};
    GPUPROF_SUMMARY_FIELDS(GPUPROF_SUMMARY_MEMBER)
#undef GPUPROF_SUMMARY_MEMBER
};

// One JSON object on one line; absent values are null.
std::string to_json(const GpuSummary& summary);
// The summary for people, on several lines of `width` columns.
std::string to_text(const GpuSummary& summary, int width = 100);
// "steady", "bursty", ... and what to do next, in one sentence.
std::string_view pattern_of(const GpuSummary& summary);
std::string advice_for(const GpuSummary& summary);

// Mean, deviation and range of a stream of numbers (Welford's method).
class Moments {
public:
    void add(double value);
    std::uint64_t count() const { return count_; }
    std::optional<double> mean() const;
    // With n - 1; absent below two numbers.
    std::optional<double> std() const;
    std::optional<double> min() const;
    std::optional<double> max() const;

private:
    std::uint64_t count_ = 0;
    double mean_ = 0, squares_ = 0, min_ = 0, max_ = 0;
};

// A uniform random subset of the added values (algorithm R, fixed seed: the same input gives the same subset).
class Reservoir {
public:
    explicit Reservoir(std::size_t capacity) : capacity_(capacity) {}
    void add(const Reading& reading);
    std::uint64_t seen() const { return seen_; }
    // In order of time.
    std::vector<Reading> in_order() const;
    const std::vector<Reading>& chosen() const { return chosen_; }

private:
    std::size_t capacity_;
    std::uint64_t seen_ = 0;
    std::vector<Reading> chosen_;
    std::mt19937_64 random_{20'250'711};
};

// The readings of one device in one region.
class DeviceSeries {
public:
    DeviceSeries(SampledDevice device, std::size_t capacity, DurNs interval);

    // Readings before `statistics_from` are kept but not counted.
    void add(const Reading& reading, TimeNs statistics_from);
    // A reading of the energy counter alone, in order of time with the others; not a sample.
    void add_energy(const Reading& reading, TimeNs statistics_from) {
        if (reading.time >= statistics_from) energy_.add(reading);
    }
    const SampledDevice& device() const { return device_; }
    std::uint64_t counted() const { return counted_; }
    const Reservoir& kept() const { return kept_; }
    TimeNs first() const { return first_; }
    TimeNs last() const { return last_; }

    // Everything except what only the monitor knows (backend, interval, gaps, jitter, its notes).
    GpuSummary summary(RegionBounds region) const;

private:
    void add_throttle(const Reading& reading);
    void fill_percentiles(GpuSummary& summary) const;
    void fill_energy(GpuSummary& summary, RegionBounds region) const;
    void fill_notes(GpuSummary& summary) const;

    SampledDevice device_;
    Reservoir kept_;
    TimeBins bins_;
    Moments moments_[kMetricCount];
    std::uint64_t counted_ = 0, idle_ = 0, active_ = 0;
    std::uint64_t throttled_ = 0, by_power_ = 0, by_thermal_ = 0, by_hardware_ = 0;
    TimeNs first_ = 0, last_ = 0;
    EnergyMeter energy_;
};

}  // namespace gpuprof::device
