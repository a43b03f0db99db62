#include "collect/device/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/ids.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/readable.h"
#include "core/schema/throttle.h"

namespace gpuprof::inline device {

void TimeBins::add(TimeNs time, double value) {
    if (!any_) origin_ = time;
    any_ = true;
    std::size_t at = 0;
    while ((at = time <= origin_ ? 0 : static_cast<std::size_t>((time - origin_) / width_)) >= 2 * kBins) halve();
    if (at >= bins_.size()) bins_.resize(at + 1);
    bins_[at].sum += value;
    ++bins_[at].count;
}

void TimeBins::halve() {
    std::vector<Bin> merged((bins_.size() + 1) / 2);
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        merged[i / 2].sum += bins_[i].sum;
        merged[i / 2].count += bins_[i].count;
    }
    bins_ = std::move(merged);
    width_ *= 2;
}

std::vector<std::optional<double>> TimeBins::means() const {
    std::size_t group = bins_.size() > kBins ? 2 : 1;
    std::vector<std::optional<double>> means;
    for (std::size_t begin = 0; begin < bins_.size(); begin += group) {
        Bin part;
        for (std::size_t i = begin; i < std::min(begin + group, bins_.size()); ++i) {
            part.sum += bins_[i].sum;
            part.count += bins_[i].count;
        }
        means.push_back(part.count > 0 ? std::optional(part.sum / static_cast<double>(part.count)) : std::nullopt);
    }
    return means;
}

std::string sparkline(const std::vector<std::optional<double>>& means) {
    static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string text;
    for (const std::optional<double>& mean : means)
        text += mean ? kBlocks[std::clamp(static_cast<int>(*mean / 12.5), 0, 7)] : " ";
    return text;
}

namespace {

constexpr double kIdleBelow = 5, kActiveFrom = 50;  // percent of util.gpu

void write(JsonWriter& json, const std::string& value) { json.text(value); }
void write(JsonWriter& json, std::int64_t value) { json.integer(value); }
void write(JsonWriter& json, const std::optional<double>& value) { value ? json.real(*value) : json.null(); }
void write(JsonWriter& json, const std::vector<std::string>& values) {
    json.begin_array();
    for (const std::string& value : values) json.text(value);
    json.end_array();
}

// A percentile of sorted samples, interpolated between the closest ranks.
double percentile(std::span<const double> sorted, double p) {
    double rank = p / 100 * static_cast<double>(sorted.size() - 1);
    auto below = static_cast<std::size_t>(rank);
    std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (rank - static_cast<double>(below));
}

double share(std::uint64_t part, std::uint64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string to_json(const GpuSummary& summary) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
#define GPUPROF_WRITE_FIELD(type, name, unit, doc) json.key(#name), write(json, summary.name);
    GPUPROF_SUMMARY_FIELDS(GPUPROF_WRITE_FIELD)
#undef GPUPROF_WRITE_FIELD
    json.end_object();
    std::string text = sink.text();
    if (!text.empty() && text.back() == '\n') text.pop_back();  // the writer ends a document with a line feed
    return text;
}

void Moments::add(double value) {
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = count_ == 0 ? value : std::max(max_, value);
    ++count_;
    double from_mean = value - mean_;
    mean_ += from_mean / static_cast<double>(count_);
    squares_ += from_mean * (value - mean_);
}

std::optional<double> Moments::mean() const { return count_ > 0 ? std::optional(mean_) : std::nullopt; }
std::optional<double> Moments::min() const { return count_ > 0 ? std::optional(min_) : std::nullopt; }
std::optional<double> Moments::max() const { return count_ > 0 ? std::optional(max_) : std::nullopt; }
std::optional<double> Moments::std() const {
    if (count_ < 2) return std::nullopt;
    return std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

void Reservoir::add(const Reading& reading) {
    ++seen_;
    if (chosen_.size() < capacity_) {
        chosen_.push_back(reading);
    } else if (std::uint64_t at = random_() % seen_; at < capacity_) {
        chosen_[at] = reading;
    }
}

std::vector<Reading> Reservoir::in_order() const {
    std::vector<Reading> readings = chosen_;
    std::stable_sort(readings.begin(), readings.end(),
                     [](const Reading& a, const Reading& b) { return a.time < b.time; });
    return readings;
}

DeviceSeries::DeviceSeries(SampledDevice device, std::size_t capacity, DurNs interval)
    : device_(std::move(device)), kept_(capacity), bins_(std::max<DurNs>(interval, 1)) {}

void DeviceSeries::add(const Reading& reading, TimeNs statistics_from) {
    kept_.add(reading);
    if (reading.time < statistics_from) return;
    if (counted_ == 0) first_ = reading.time;
    last_ = std::max(last_, reading.time);
    ++counted_;
    for (const MetricSpec& spec : kMetrics)
        if (reading.present.has(spec.metric))
            moments_[index_of(spec.metric)].add(reading.values[index_of(spec.metric)]);
    if (std::optional<double> util = reading.get(Metric::util_gpu)) {
        idle_ += *util < kIdleBelow;
        active_ += *util >= kActiveFrom;
        bins_.add(reading.time, *util);
    }
    energy_.add(reading);
    add_throttle(reading);
}

void DeviceSeries::add_throttle(const Reading& reading) {
    std::optional<double> bits = reading.get(Metric::throttle);
    if (!bits) return;
    Throttle throttle = throttle_of(static_cast<std::uint64_t>(*bits));
    by_power_ += throttle.power;
    by_thermal_ += throttle.thermal;
    by_hardware_ += throttle.hardware;
    throttled_ += throttle.power || throttle.thermal || throttle.hardware;
}

void DeviceSeries::fill_percentiles(GpuSummary& summary) const {
    std::vector<double> sorted;
    for (const Reading& reading : kept_.chosen())
        if (std::optional<double> util = reading.get(Metric::util_gpu); util && reading.time >= first_)
            sorted.push_back(*util);
    if (sorted.empty()) return;
    std::sort(sorted.begin(), sorted.end());
    summary.util_gpu_p5 = percentile(sorted, 5);
    summary.util_gpu_p50 = percentile(sorted, 50);
    summary.util_gpu_p95 = percentile(sorted, 95);
    summary.util_gpu_p99 = percentile(sorted, 99);
    if (kept_.seen() <= kept_.chosen().size()) return;
    // Dvoretzky-Kiefer-Wolfowitz: with 95 % confidence no rank is off by more.
    double error = 100 * std::sqrt(std::log(2 / 0.05) / (2 * static_cast<double>(sorted.size())));
    summary.notes.push_back(
        fmt::format("percentiles are estimated from a random sample of {} of {} samples: each is within {:.2f} "
                    "percentage points of its rank "
                    "(95 % confidence)",
                    sorted.size(), kept_.seen(), error));
}

void DeviceSeries::fill_energy(GpuSummary& summary, RegionBounds region) const {
    Energy energy = energy_.over(region, device_.power_limit_w);
    if (!energy.note.empty()) summary.notes.push_back(energy.note);
    if (energy.basis == EnergyBasis::none) return;
    summary.energy_j = energy.joules;
    summary.energy_uncertainty_j = energy.uncertainty_j;
    summary.energy_basis = name_of(energy.basis);
}

void DeviceSeries::fill_notes(GpuSummary& summary) const {
    if (!summary.util_gpu_mean) return;
    std::string note = fmt::format(
        "util.gpu is the share of time in which at least one kernel ran; {:.0f} % does not mean {:.0f} % of peak FLOPS",
        *summary.util_gpu_mean, *summary.util_gpu_mean);
    if (summary.gpm_sm_active_mean)
        note += fmt::format("; SMs were active {:.0f} % of the time (raw GPM)", *summary.gpm_sm_active_mean);
    summary.notes.push_back(note);
}

GpuSummary DeviceSeries::summary(RegionBounds region) const {
    GpuSummary summary;
    auto of = [this](Metric metric) -> const Moments& { return moments_[index_of(metric)]; };
    summary.device = device_.device;
    summary.name = device_.name;
    summary.uuid = device_.uuid;
    summary.duration_s = static_cast<double>(std::max<DurNs>(region.end - region.start, 0)) / kNsPerSecond;
    summary.n_samples = static_cast<std::int64_t>(counted_);
    const Moments& util = of(Metric::util_gpu);
    summary.util_gpu_mean = util.mean();
    summary.util_gpu_std = util.std();
    summary.util_gpu_min = util.min();
    summary.util_gpu_max = util.max();
    fill_percentiles(summary);
    if (util.count() > 0) {
        summary.idle_pct = share(idle_, util.count());
        summary.active_pct = share(active_, util.count());
        summary.busy_time_est_s = *summary.duration_s * *util.mean() / 100;
    }
    summary.util_mem_mean = of(Metric::util_mem).mean();
    summary.mem_used_mean_mb = of(Metric::mem_used).mean();
    summary.mem_used_max_mb = of(Metric::mem_used).max();
    summary.mem_total_mb = of(Metric::mem_total).max();
    if (summary.mem_used_max_mb && summary.mem_total_mb && *summary.mem_total_mb > 0)
        summary.mem_util_pct = 100 * *summary.mem_used_max_mb / *summary.mem_total_mb;
    summary.power_mean_w = of(Metric::power).mean();
    summary.power_max_w = of(Metric::power).max();
    fill_energy(summary, region);
    summary.temp_mean_c = of(Metric::temp).mean();
    summary.temp_max_c = of(Metric::temp).max();
    summary.sm_clock_mean_mhz = of(Metric::sm_clock).mean();
    summary.sm_clock_max_mhz = of(Metric::sm_clock).max();
    summary.sm_clock_limit_mhz = device_.sm_clock_max_mhz;
    summary.mem_clock_mean_mhz = of(Metric::mem_clock).mean();
    if (std::uint64_t samples = of(Metric::throttle).count(); samples > 0) {
        summary.throttle_pct = share(throttled_, samples);
        summary.throttle_power_pct = share(by_power_, samples);
        summary.throttle_thermal_pct = share(by_thermal_, samples);
        summary.throttle_hw_pct = share(by_hardware_, samples);
    }
    summary.gpm_sm_active_mean = of(Metric::gpm_sm_active).mean();
    summary.gpm_sm_occupancy_mean = of(Metric::gpm_sm_occupancy).mean();
    summary.gpm_tensor_mean = of(Metric::gpm_tensor).mean();
    summary.gpm_dram_mean = of(Metric::gpm_dram).mean();
    summary.sparkline = sparkline(bins_.means());
    summary.pattern = pattern_of(summary);
    fill_notes(summary);
    return summary;
}

}  // namespace gpuprof::device
