#include "cli/live/live_state.h"

#include <algorithm>

#include "core/base/ids.h"

namespace gpuprof::inline cli {
namespace {

// More than three intervals, so that a late packet does not make a value flicker.
constexpr DurNs kGrace = 2 * kSecond;

// The longest time between two readings at a short interval; source: core/schema/metrics.def.
DurNs pace_of(Cadence cadence) {
    switch (cadence) {
        case Cadence::fast: return 0;
        case Cadence::gpm: return kSecond / 10;
        case Cadence::slow: return kSecond;
        case Cadence::rare: return 10 * kSecond;
    }
    return 0;
}

}  // namespace

void HistorySlot::add(const Reading& reading) {
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        if (!reading.present.has(static_cast<Metric>(i)) || counts[i] == UINT16_MAX) continue;
        sums[i] += static_cast<float>(reading.values[i]);
        ++counts[i];
    }
}

std::optional<double> HistorySlot::mean(Metric metric) const {
    std::size_t i = index_of(metric);
    if (counts[i] == 0) return std::nullopt;
    return static_cast<double>(sums[i]) / counts[i];
}

void LiveState::opened(const Opened& opened) {
    backend_ = opened.backend;
    notes_ = opened.notes;
    problem_.clear();
    std::vector<LiveDevice> before = std::move(devices_);
    devices_.clear();
    for (const SampledDevice& known : opened.devices) {
        // A restart of the sampler keeps the history of a device.
        auto same = std::find_if(before.begin(), before.end(), [&known](const LiveDevice& old) {
            return old.known.device == known.device && old.known.uuid == known.uuid;
        });
        devices_.push_back(same == before.end() ? LiveDevice{} : std::move(*same));
        devices_.back().known = known;
        devices_.back().lost = false;
    }
}

void LiveState::on_poll(const PollResult& polled) {
    for (const Reading& reading : polled.readings) take(reading);
    for (const ProcessReading& process : polled.processes)
        if (LiveDevice* device = find(process.device)) device->processes[{process.pid, process.driver_pid}] = process;
    for (const Fault& fault : polled.faults) take(fault);
}

LiveDevice* LiveState::find(std::int32_t number) {
    auto found = std::find_if(devices_.begin(), devices_.end(),
                              [number](const LiveDevice& device) { return device.known.device == number; });
    return found == devices_.end() ? nullptr : &*found;
}

void LiveState::take(const Reading& reading) {
    LiveDevice* device = find(reading.device);
    if (device == nullptr || reading.present.empty()) return;
    if (device->lost) {
        device->lost = false;
        device->problem.clear();
    }
    device->last = std::max(device->last, reading.time);
    for (std::size_t i = 0; i < kMetricCount; ++i)
        if (reading.present.has(static_cast<Metric>(i))) {
            device->values[i] = reading.values[i];
            device->read_at[i] = reading.time;
        }
    std::int64_t number = reading.time / interval_;
    std::deque<HistorySlot>& history = device->history;
    // A clock that was set back restarts the history. Slightly late readings count towards the newest interval.
    if (!history.empty() && number + 2 < history.back().number) history.clear();
    if (history.empty() || history.back().number < number)
        history.push_back({.number = number, .sums = {}, .counts = {}});
    history.back().add(reading);
    if (history.size() > kSlots) history.pop_front();
    TimeNs stale = reading.time - staleness_limit(Cadence::slow);
    std::erase_if(device->processes, [stale](const auto& process) { return process.second.time < stale; });
}

void LiveState::take(const Fault& fault) {
    LiveDevice* device = fault.device < 0 ? nullptr : find(fault.device);
    (device == nullptr ? problem_ : device->problem) = fault.sentence;
    for (LiveDevice& each : devices_) {
        if (device != nullptr && &each != device) continue;
        each.lost |= fault.lost;
        for (std::size_t i = 0; i < kMetricCount; ++i)
            if (fault.lost || fault.metrics.has(static_cast<Metric>(i))) each.read_at[i] = 0;
        if (fault.lost) each.processes.clear();
    }
}

DurNs LiveState::staleness_limit(Cadence cadence) const { return 3 * std::max(interval_, pace_of(cadence)) + kGrace; }

bool LiveState::alive(const LiveDevice& device, TimeNs now) const {
    return !device.lost && device.last != 0 && now - device.last <= staleness_limit(Cadence::fast);
}

std::optional<double> LiveState::value(const LiveDevice& device, Metric metric, TimeNs now) const {
    TimeNs read_at = device.read_at[index_of(metric)];
    if (read_at == 0 || now - read_at > staleness_limit(spec_of(metric).cadence)) return std::nullopt;
    return device.values[index_of(metric)];
}

// A value is valid for three of its intervals: ticks jitter, and not every tick reads everything.
std::vector<std::optional<double>> LiveState::history(const LiveDevice& device, Metric metric, std::size_t count,
                                                      TimeNs now) const {
    std::vector<std::optional<double>> means(count);
    std::int64_t newest = now / interval_;
    std::int64_t held = 3 * std::max(interval_, pace_of(spec_of(metric).cadence)) / interval_;
    for (const HistorySlot& slot : device.history) {
        std::optional<double> mean = slot.mean(metric);
        for (std::int64_t number = slot.number; mean && number < slot.number + held; ++number) {
            std::int64_t age = newest - number;
            if (age >= 0 && age < static_cast<std::int64_t>(count))
                means[count - 1 - static_cast<std::size_t>(age)] = mean;
        }
    }
    return means;
}

std::vector<ProcessReading> LiveState::processes(const LiveDevice& device, TimeNs now) const {
    std::vector<ProcessReading> list;
    for (const auto& [pid, process] : device.processes)
        if (now - process.time <= staleness_limit(Cadence::slow)) list.push_back(process);
    std::stable_sort(list.begin(), list.end(), [](const ProcessReading& a, const ProcessReading& b) {
        return a.mem_used_mb.value_or(-1) > b.mem_used_mb.value_or(-1);
    });
    return list;
}

}  // namespace gpuprof::cli
