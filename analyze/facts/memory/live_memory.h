// Device memory held by a framework's allocator over time, from its events: the peak, the allocations live at a moment,
// and their owners. Sizes are the allocator's block sizes if recorded, else the requested sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/facts/idle/host_timeline.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// Events without a device ordinal, from files about one unnamed device.
inline constexpr std::int32_t kUnnamedDevice = -1;

// Bytes allocated (above 0) or released (below 0) by an event.
inline std::int64_t block_bytes(const MemoryEventTable& table, Row row) {
    return table.block_bytes.has(row) ? table.block_bytes[row] : table.bytes[row];
}

// Whose events: those of a framework's allocator, those of CUDA calls (cudaMalloc, ...), or those of CUDA calls only for
// devices without a framework's allocator. A framework's blocks lie in memory from CUDA calls: never add the two up.
enum class AllocationLevel { framework, cuda, highest };

// Rows of memory_event with time and size, by device, then time, then recorded order. Host memory is excluded.
std::map<std::int32_t, std::vector<Row>> events_by_device(const Trace& trace, std::int64_t only_device,
                                                          AllocationLevel level = AllocationLevel::highest);

// Whether events have addresses, so that a release can be matched to its allocation.
bool have_addresses(const MemoryEventTable& table, const std::vector<Row>& events);

// The first moment at which allocated memory peaked.
struct MemoryPeak {
    std::optional<std::int64_t> bytes;  // absent on overflow or without events
    Row event = kNoRow;
    bool totals_known = true;  // the allocator's own totals; otherwise sums of the recorded events
};
MemoryPeak find_peak(const MemoryEventTable& table, const std::vector<Row>& events);

// Allocations live after the event `last` (kNoRow: after all events), largest first.
std::vector<Row> live_at(const MemoryEventTable& table, const std::vector<Row>& events, Row last);

// The innermost Python frame of a stack, "forward (model.py:12)"; otherwise its innermost frame.
std::string_view owner_frame(std::string_view stack);

// The owner of an allocation: the innermost open operator on its thread that does more than allocate, else the
// innermost Python frame or range; if a stack was recorded instead, its innermost Python frame; "" if unknown. For a CUDA
// call outside all of these, the record of another tool counts, if exactly one other thread has its ids of process and
// thread: ids may repeat on other hosts.
class MemoryOwners {
public:
    explicit MemoryOwners(const Trace& trace);
    std::string of(Row event);

private:
    std::string_view on_thread(StringId key, TimeNs time);

    const Trace& trace_;
    HostTimeline timeline_;
    std::unordered_map<std::uint32_t, HostThread> threads_;  // by key
    using ThreadId = std::pair<std::int64_t, std::int64_t>;  // of process and thread
    std::map<ThreadId, std::vector<StringId>> keys_;
    std::map<StringId, ThreadId> ids_;  // by key
};

}  // namespace gpuprof::facts
