// The current state of the machine's devices and their last minutes: the newest value of every metric, a history with
// one slot per interval, the processes, and current problems. A sampler's messages fill it; top draws it and serve
// exports it. No threads and no clocks (the caller passes the time). A value that is overdue, or that a fault reports
// as gone, is absent.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/sampler_wire.h"

namespace gpuprof::inline cli {

// The sums of the readings of one interval.
struct HistorySlot {
    std::int64_t number = 0;  // time / interval
    std::array<float, kMetricCount> sums{};
    std::array<std::uint16_t, kMetricCount> counts{};

    void add(const Reading& reading);
    std::optional<double> mean(Metric metric) const;
};

struct LiveDevice {
    SampledDevice known;
    std::array<double, kMetricCount> values{};
    std::array<TimeNs, kMetricCount> read_at{};  // 0: never read, or gone
    TimeNs last = 0;                             // newest reading; 0: none
    bool lost = false;                           // the driver lost the device and has not found it again
    std::string problem;                         // the newest message about it
    std::deque<HistorySlot> history;             // ascending; intervals without a reading have no slot
    std::map<std::pair<std::int64_t, std::int64_t>, ProcessReading> processes;  // by pid and driver_pid
};

class LiveState {
public:
    static constexpr std::size_t kSlots = 1024;  // no terminal is wider

    // `interval`: the requested one, > 0.
    explicit LiveState(DurNs interval) : interval_(interval) {}

    void opened(const Opened& opened);
    void on_poll(const PollResult& polled);

    const std::string& backend() const { return backend_; }
    const std::vector<std::string>& notes() const { return notes_; }
    // The newest message that is not about one device.
    const std::string& problem() const { return problem_; }
    DurNs interval() const { return interval_; }
    const std::vector<LiveDevice>& devices() const { return devices_; }
    // Whether readings of the device arrived in time.
    bool alive(const LiveDevice& device, TimeNs now) const;
    // The newest value; absent if there is none, or if a reading is overdue at `now`.
    std::optional<double> value(const LiveDevice& device, Metric metric, TimeNs now) const;
    // Means of the last `count` intervals up to that of `now`, oldest first; absent for gaps longer than three
    // intervals.
    std::vector<std::optional<double>> history(const LiveDevice& device, Metric metric, std::size_t count,
                                               TimeNs now) const;
    // Processes with recent readings, largest memory first.
    std::vector<ProcessReading> processes(const LiveDevice& device, TimeNs now) const;

private:
    LiveDevice* find(std::int32_t device);
    void take(const Reading& reading);
    void take(const Fault& fault);
    DurNs staleness_limit(Cadence cadence) const;

    DurNs interval_;
    std::string backend_ = "none", problem_;
    std::vector<std::string> notes_;
    std::vector<LiveDevice> devices_;
};

}  // namespace gpuprof::cli
