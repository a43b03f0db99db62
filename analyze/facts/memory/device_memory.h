// What is known about the memory of each device over time, each source by itself: NVML's samples of the device and of
// its processes, the totals of a framework's allocator, and the allocations by CUDA calls. memory_account.h adds them
// up. Values are step functions that are known only while their recorder ran; before and after, they are absent.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

// Bytes held over time. Steps are added in order of time.
class HeldBytes {
public:
    // Bytes held after `time`.
    void set(TimeNs time, std::int64_t bytes);
    // Bytes allocated (above 0) or released at `time`. Needs a first set().
    void change(TimeNs time, std::int64_t by);
    // It is known from its first step until `time`.
    void known_until(TimeNs time) { until_ = time; }
    bool empty() const { return steps_.empty(); }
    // Absent where it is unknown.
    std::optional<std::int64_t> at(TimeNs time) const;
    // When the value at `time`, which must be known, was set.
    TimeNs set_at(TimeNs time) const;
    const std::vector<std::pair<TimeNs, std::int64_t>>& steps() const { return steps_; }

private:
    const std::pair<TimeNs, std::int64_t>& step_at(TimeNs time) const;

    std::vector<std::pair<TimeNs, std::int64_t>> steps_;
    TimeNs until_ = std::numeric_limits<TimeNs>::min();
};

// One recorded process on one device.
struct ProcessMemory {
    StringId process = kNoString;     // kNoString: which process is unknown
    std::optional<std::int64_t> pid;  // absent if unknown
    // From its first to its last recorded event. Outside, it may not exist.
    TimeNs active_from = std::numeric_limits<TimeNs>::min(), active_to = std::numeric_limits<TimeNs>::max();
    bool is_assumed = false;        // the only process that NVML lists is taken to be the recorded one
    HeldBytes allocated, reserved;  // by a framework's allocator
    bool has_totals = true;         // else `allocated` counts only what was allocated during the recording
    HeldBytes segments, calls;      // by CUDA calls: segments of that allocator, all others
    HeldBytes managed;              // managed memory, wherever it is
    bool finds_segments = false;    // some allocations are known to be segments
    bool has_addresses = false;     // of the framework's blocks

    bool is_active(TimeNs time) const { return time >= active_from && time <= active_to; }
};

// What one look at a device's processes found.
struct ProcessPoll {
    TimeNs time;
    std::map<std::int64_t, std::int64_t> bytes;  // by pid
};

struct DeviceMemory {
    std::vector<std::pair<TimeNs, std::int64_t>> used;  // NVML's samples
    std::optional<std::int64_t> total;
    std::vector<ProcessPoll> polls;
    std::optional<std::int64_t> pid_without_bytes;  // a process whose memory NVML never reported
    std::vector<ProcessMemory> processes;
    std::uint64_t unmatched_releases = 0;
};

struct DeviceMemories {
    std::map<std::int32_t, DeviceMemory> by_device;
    static DeviceMemories make(const Facts& facts);
};

}  // namespace gpuprof::facts
