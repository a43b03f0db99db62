#include "collect/device/sample_accumulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace gpuprof::inline device {

constexpr std::size_t kMaxNotes = 24;

SampleAccumulator::SampleAccumulator(const SourceRequest& request, std::size_t max_samples, TimeNs began, DurNs warmup)
    : request_(request), max_samples_(max_samples), warmup_(warmup), statistics_from_(began + warmup) {}

void SampleAccumulator::opened(const Opened& opened) {
    backend_ = opened.backend;
    immediate_ = opened.immediate;
    for (const SampledDevice& device : opened.devices)
        if (find(device.device) == nullptr)
            devices_.push_back({DeviceSeries(device, max_samples_, request_.interval), 0, 0});
    for (const std::string& sentence : opened.notes)
        if (std::none_of(notes_.begin(), notes_.end(), [&](const Note& known) { return known.sentence == sentence; }))
            note(sentence);
}

SampleAccumulator::Device* SampleAccumulator::find(std::int32_t device) {
    for (Device& known : devices_)
        if (known.series.device().device == device) return &known;
    return nullptr;
}

void SampleAccumulator::on_poll(const PollResult& polled) {
    auto energy = polled.energy.begin();
    auto add_energy_before = [&](TimeNs time) {
        for (; energy != polled.energy.end() && energy->time < time; ++energy)
            if (Device* device = find(energy->device)) device->series.add_energy(*energy, statistics_from_);
    };
    // A series that comes all at once has its own clock, so its warm-up begins with it.
    if (immediate_ && !any_reading_ && !polled.readings.empty())
        statistics_from_ = warmup_ > 0 ? polled.readings.front().time + warmup_ : INT64_MIN;
    for (const Reading& reading : polled.readings) {
        add_energy_before(reading.time);
        Device* device = find(reading.device);
        if (device == nullptr) continue;
        any_reading_ = true;
        if (device->last != 0) device->gap += gap_between(std::max(device->last, statistics_from_), reading.time);
        device->last = reading.time;
        device->series.add(reading, statistics_from_);
    }
    add_energy_before(INT64_MAX);
    for (const Fault& fault : polled.faults) note(fault.sentence);
}

void SampleAccumulator::note(const std::string& sentence) {
    for (Note& known : notes_)
        if (known.sentence == sentence) {
            ++known.times;
            return;
        }
    if (notes_.size() < kMaxNotes)
        notes_.push_back({sentence, 1});
    else
        ++notes_omitted_;
}

std::vector<SampledDevice> SampleAccumulator::devices() const {
    std::vector<SampledDevice> devices;
    for (const Device& device : devices_) devices.push_back(device.series.device());
    return devices;
}

std::vector<Reading> SampleAccumulator::samples(std::size_t index) const {
    if (index >= devices_.size()) return {};
    return devices_[index].series.kept().in_order();
}

// A live source responds in every interval; of a much longer pause, all but one interval is a gap.
DurNs SampleAccumulator::gap_between(TimeNs from, TimeNs to) const {
    if (immediate_ || backend_ == "replay") return 0;
    DurNs pause = to - from;
    return pause > 3 * request_.interval + 200'000'000 ? pause - request_.interval : 0;
}

std::vector<std::string> SampleAccumulator::sentences() const {
    std::vector<std::string> sentences;
    for (const Note& note : notes_)
        sentences.push_back(note.times == 1 ? note.sentence : fmt::format("{} ({} times)", note.sentence, note.times));
    if (notes_omitted_ > 0) sentences.push_back(fmt::format("{} more remarks omitted", notes_omitted_));
    if (cost_ && cost_->missed > 0)
        sentences.push_back(
            fmt::format("{} of {} ticks were skipped because reading the device took longer than the interval",
                        cost_->missed, cost_->missed + cost_->ticks));
    return sentences;
}

GpuSummary SampleAccumulator::without_samples(RegionBounds region) const {
    GpuSummary summary;
    summary.device = std::strtoll(request_.devices.c_str(), nullptr, 10);
    summary.backend = backend_;
    summary.pattern = "unknown";
    summary.duration_s = static_cast<double>(std::max<DurNs>(region.end - region.start, 0)) / 1e9;
    summary.interval_s = static_cast<double>(request_.interval) / 1e9;
    summary.notes = sentences();
    return summary;
}

void SampleAccumulator::complete(GpuSummary& summary, const Device& device, TimeNs end) const {
    summary.backend = backend_;
    summary.interval_s = static_cast<double>(request_.interval) / 1e9;
    DurNs gap = device.gap + (device.last == 0 ? 0 : gap_between(device.last, end));
    if (device.series.counted() > 0) summary.gap_s = static_cast<double>(gap) / 1e9;
    if (gap > 0)
        summary.notes.push_back(fmt::format("no samples for {:.2f} s: the device did not respond", *summary.gap_s));
    if (cost_ && cost_->ticks > 1) summary.jitter_p99_ms = cost_->late_p99_ms;
    if (cost_ && cost_->wall_s > 0) summary.sampler_cpu_pct = 100 * cost_->cpu_s / cost_->wall_s;
    if (device.series.counted() == 0)
        summary.notes.push_back("no sample was taken: the region was shorter than the interval or the warm-up");
    for (std::string& sentence : sentences()) summary.notes.push_back(std::move(sentence));
}

std::vector<GpuSummary> SampleAccumulator::summaries(RegionBounds region) const {
    if (devices_.empty()) return {without_samples(region)};
    std::vector<GpuSummary> summaries;
    for (const Device& device : devices_) {
        RegionBounds bounds =
            immediate_ ? RegionBounds{std::max(device.series.first(), statistics_from_), device.series.last()} : region;
        summaries.push_back(device.series.summary(bounds));
        complete(summaries.back(), device, region.end);
    }
    return summaries;
}

}  // namespace gpuprof::device
