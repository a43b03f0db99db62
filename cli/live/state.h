// What is known of the machine's devices now and of the last minutes: the newest value of every metric, a history of one
// slot per interval, the processes, and what is wrong. Fed by a sampler's messages; top draws it and serve exports it.
// Pure bookkeeping: no threads, no clocks (the time is handed in). A value that was not read again when it should have
// been is absent, as is one that a fault says is gone.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/device/reading.h"
#include "collect/device/wire.h"

namespace gpuprof {

// The readings of one interval, added up.
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
    std::array<TimeNs, kMetricCount> read_at{};  // 0: never, or gone
    TimeNs last = 0;                             // newest reading; 0: none
    bool lost = false;                           // the driver lost it and has not found it again
    std::string trouble;                         // the newest sentence about it
    std::deque<HistorySlot> history;             // ascending; intervals without a reading have no slot
    std::map<std::int64_t, ProcessReading> processes;
};

class LiveState {
public:
    static constexpr std::size_t kSlots = 1024;  // no terminal is wider

    // `interval` is the one that sampling was asked for, > 0.
    explicit LiveState(DurNs interval) : interval_(interval) {}

    void opened(const Opened& opened);
    void harvested(const Harvest& harvest);

    const std::string& backend() const { return backend_; }
    const std::vector<std::string>& notes() const { return notes_; }
    // The newest sentence that is not about one device.
    const std::string& trouble() const { return trouble_; }
    DurNs interval() const { return interval_; }
    const std::vector<LiveDevice>& devices() const { return devices_; }
    // Whether readings of the device came in time.
    bool alive(const LiveDevice& device, TimeNs now) const;
    // The newest value; absent when there is none, or when it should have been read again before `now`.
    std::optional<double> value(const LiveDevice& device, Metric metric, TimeNs now) const;
    // Means of the last `count` intervals up to the one of `now`, oldest first; absent where nothing was read for longer
    // than three turns.
    std::vector<std::optional<double>> history(const LiveDevice& device, Metric metric, std::size_t count,
                                               TimeNs now) const;
    // Processes that were seen in time, those with most memory first.
    std::vector<ProcessReading> processes(const LiveDevice& device, TimeNs now) const;

private:
    LiveDevice* find(std::int32_t device);
    void take(const Reading& reading);
    void take(const Fault& fault);
    DurNs patience(Cadence cadence) const;

    DurNs interval_;
    std::string backend_ = "none", trouble_;
    std::vector<std::string> notes_;
    std::vector<LiveDevice> devices_;
};

}  // namespace gpuprof
