// What a framework's allocator held on each device over time, from its events: the peak, what was live at a moment, and who
// allocated it. Sizes are those of the allocator's blocks where the recorder says them, else those that were asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analyze/facts/host_timeline.h"
#include "core/model/trace.h"

namespace gpuprof {

// Events of which only the bytes are known, of the one device that the file is about.
inline constexpr std::int32_t kUnnamedDevice = -1;

// Bytes of the allocator that an event took (above 0) or gave back (below 0).
inline std::int64_t block_bytes(const MemoryEventTable& table, Row row) {
    return table.block_bytes.has(row) ? table.block_bytes[row] : table.bytes[row];
}

// Rows of memory_event with time and size by device, by time; of equal times in the order of the recording. Memory of the host
// is left out.
std::map<std::int32_t, std::vector<Row>> events_by_device(const Trace& trace, std::int64_t only_device);

// Whether events say where memory lies, so that a release can be told to be that of an allocation.
bool have_addresses(const MemoryEventTable& table, const std::vector<Row>& events);

// The first moment at which most was allocated.
struct MemoryPeak {
    std::optional<std::int64_t> bytes;  // absent: did not fit, or no event
    Row event = kNoRow;
    bool totals_known = true;  // the allocator's own totals; else sums of what was recorded
};
MemoryPeak find_peak(const MemoryEventTable& table, const std::vector<Row>& events);

// Allocations that are live after the event `last` (kNoRow: after all), the largest first.
std::vector<Row> live_at(const MemoryEventTable& table, const std::vector<Row>& events, Row last);

// The innermost frame of a stack that is Python's, "forward (model.py:12)"; else its innermost.
std::string_view owner_frame(std::string_view stack);

// Who allocated: the innermost operator open on its thread that does more than allocate, else the innermost Python frame or
// range; where the recorder wrote a stack instead, its innermost Python frame; "" when nobody knows.
class MemoryOwners {
public:
    explicit MemoryOwners(const Trace& trace)
        : trace_(trace), timeline_(trace, {HostKind::op, HostKind::python_call, HostKind::range}) {}
    std::string of(Row event);

private:
    const Trace& trace_;
    HostTimeline timeline_;
    std::unordered_map<std::uint32_t, HostThread> threads_;  // by key
};

}  // namespace gpuprof
