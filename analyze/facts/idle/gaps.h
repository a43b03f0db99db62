// Why a device was idle: each idle interval is cut where the cause changes, and each piece records the activity of the
// host thread that submitted the next device op. The pieces of one device sum to its idle time exactly.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "analyze/facts/idle/idle_gap.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

class Facts;

// The longest listed gap of one cause (Options::gap_min_ns sets the minimum listed).
struct LongestGap {
    IdleGap gap;
    std::size_t place = 0;  // position in the list of gaps: 1 is gap-1
};

// Totals over all gaps. A recording may have as many gaps as kernels, so only the longest are kept here.
struct IdleGaps {
    std::vector<DeviceIdle> devices;
    std::array<std::optional<LongestGap>, kIdleCauses> longest;  // by IdleCause
    static IdleGaps make(const Facts& facts);
};

// Every idle interval with its cause, by device, then start; for analyses that list single gaps.
struct GapList {
    PodVector<IdleGap> gaps;
    static GapList make(const Facts& facts);
};

// A device's causes of idle time, longest first: idle-1, idle-2, ... in tables and findings, device by device.
std::vector<IdleCause> causes_of(const DeviceIdle& device);

// The order in which gaps are listed and numbered (gap-1, gap-2, ...): longest first, then by start, then by device.
bool listed_before(const IdleGap& a, const IdleGap& b);

// Calls visit(span) for each piece of all gaps, by device, gap, then start; per device and cause they sum to DeviceIdle.
void each_idle_span(const Facts& facts, const std::function<void(const IdleSpan&)>& visit);
// The same; makes GapList and IdleGaps on the way, which otherwise read all gaps again.
void list_idle_spans(Facts& facts, const std::function<void(const IdleSpan&)>& visit);

// A list of the same, for analyses that need it more than once.
struct IdleSpans {
    PodVector<IdleSpan> spans;
    static IdleSpans make(const Facts& facts);
};

}  // namespace gpuprof::facts
