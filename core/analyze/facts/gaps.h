// Why a device was idle: each idle interval of a device is cut at changes of cause, and each piece says what the host
// thread that submitted the next device op was doing at that time. Pieces of one device sum to its idle time exactly.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/analyze/facts/idle_gap.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

class Facts;

// The longest gap of one cause, of those that are listed at all (Options::gap_min_ns).
struct LongestGap {
    IdleGap gap;
    std::size_t place = 0;  // among all gaps, as they are listed: 1 is gap-1
};

// What all gaps add up to. A recording may have as many gaps as kernels, so none is kept here but the longest.
struct IdleGaps {
    std::vector<DeviceIdle> devices;
    std::array<std::optional<LongestGap>, kIdleCauses> longest;  // by IdleCause
    static IdleGaps make(const Facts& facts);
};

// Every idle interval with its cause, by device, then start; for those who show them one by one.
struct GapList {
    PodVector<IdleGap> gaps;
    static GapList make(const Facts& facts);
};

// The causes a device has idle time of, the longest first: idle-1, idle-2, ... in tables and findings, device by device.
std::vector<IdleCause> causes_of(const DeviceIdle& device);

// The order in which gaps are listed and counted (gap-1, gap-2, ...): the longest first, then by start, then by device.
bool listed_before(const IdleGap& a, const IdleGap& b);

// The pieces of all gaps, by gap, then start; per device and cause they sum to DeviceIdle.
struct IdleSpans {
    PodVector<IdleSpan> spans;
    static IdleSpans make(const Facts& facts);
};

}  // namespace gpuprof
