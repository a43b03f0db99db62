// Aligns the clocks of one recorded process: CUPTI's times, if they are not CLOCK_REALTIME; each device's times, if
// work seems to start before its call started or to end after a call that waited for it returned; and steps of
// CLOCK_REALTIME, which are only reported. Times are moved per device, never individually.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/build/device_clock.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

// Simultaneous readings; device 0: CUPTI had no clock.
struct SpoolClock {
    TimeNs realtime;
    std::int64_t monotonic, device;
};

// Where the rows of one process start.
struct SpoolRows {
    SpoolRows() = default;
    explicit SpoolRows(const Tables& tables)
        : kernel(static_cast<Row>(tables.kernel.rows)),
          memcpy(static_cast<Row>(tables.memcpy.rows)),
          memset(static_cast<Row>(tables.memset.rows)),
          api_call(static_cast<Row>(tables.api_call.rows)),
          sync(static_cast<Row>(tables.sync.rows)),
          overhead(static_cast<Row>(tables.overhead.rows)),
          memory_event(static_cast<Row>(tables.memory_event.rows)),
          range(static_cast<Row>(tables.range.rows)) {}
    Row kernel = 0, memcpy = 0, memset = 0, api_call = 0, sync = 0, overhead = 0, memory_event = 0, range = 0;
};

// The offset of CUPTI's clock from CLOCK_REALTIME; absent if negligible (under a millisecond).
std::optional<DurNs> cupti_offset(const std::vector<SpoolClock>& clocks);
// Moves all times from CUPTI.
void move_cupti_times(Tables& tables, const SpoolRows& first, DurNs by);
// Total step of CLOCK_REALTIME during the recording; 0 if under a millisecond.
DurNs clock_step(const std::vector<SpoolClock>& clocks);

// The error of one device's clock: the true time of its work is the recorded one plus something from `least` to `most`.
struct DeviceClock {
    std::int32_t device = 0;
    std::optional<DurNs> min_error, max_error;  // absent: unbounded on that side
    // The smallest move that satisfies both bounds; 0 if no move is needed.
    DurNs move() const;
};
std::vector<DeviceClock> device_clocks(const Batch& batch, const SpoolRows& first);
void move_device(Tables& tables, const SpoolRows& first, const DeviceClock& clock);

}  // namespace gpuprof::importers
