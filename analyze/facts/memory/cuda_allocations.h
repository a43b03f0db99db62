// Allocations by CUDA calls (cudaMalloc, ...), matched to their releases, and which of them are segments that a
// framework's allocator divides into blocks: those in which an allocator event or a segment of a snapshot lies. What is
// left belongs to libraries or to the program itself. Addresses are valid within a process, so it is part of the key: the
// process of every allocation is found here too.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// The process of each allocation. Its thread names it; events without a thread (snapshots of an allocator, calls that
// were not recorded) belong to the only process that used the device, or to no known one. Two tools that recorded one
// process give it two keys; here, keys with one pid are one process, unless their hosts differ.
class MemoryProcesses {
public:
    explicit MemoryProcesses(const Trace& trace);
    // Keys of processes, one for each process; kNoString if unknown.
    StringId of(Row event) const;
    StringId of_thread(StringId thread) const;
    StringId one_of(StringId key) const;
    std::optional<std::int64_t> pid(StringId key) const;
    // The processes that used a device, by its work or allocations.
    const std::set<StringId>& users(std::int32_t device) const;

private:
    void read_keys();

    const Trace& trace_;
    std::map<StringId, StringId> of_thread_, one_of_;  // by key
    std::map<StringId, std::int64_t> pids_;
    std::map<std::int32_t, std::set<StringId>> users_;
};

class Facts;

struct CudaAllocation {
    Row event = kNoRow;  // of memory_event
    StringId process = kNoString;
    TimeNs from = 0, to = std::numeric_limits<TimeNs>::max();  // released at `to`
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    bool managed = false;
    bool is_segment = false;  // of a framework's allocator
};

struct CudaAllocations {
    std::map<std::int32_t, std::vector<CudaAllocation>> by_device;  // in order of time
    // Releases of memory allocated before the recording, or whose allocation is missing.
    std::map<std::int32_t, std::uint64_t> unmatched_releases;

    static CudaAllocations make(const Facts& facts);
    const std::vector<CudaAllocation>& of(std::int32_t device) const;
};

// Blocks may seem to be older than their segment, because two recorders converted the times.
inline constexpr DurNs kClockTolerance_ns = 1'000'000;

// Sizes, totals and times of a damaged file may be any number. No device has more bytes, and differences of times within
// the bound fit 64 bits.
inline constexpr std::int64_t kMaxDeviceBytes = std::int64_t{1} << 52;
inline bool possible_bytes(std::int64_t bytes) { return bytes >= 0 && bytes <= kMaxDeviceBytes; }
inline bool possible_time(TimeNs time) {
    constexpr TimeNs kMaxTime = TimeNs{1} << 61;
    return time > -kMaxTime && time < kMaxTime;
}

}  // namespace gpuprof::facts
