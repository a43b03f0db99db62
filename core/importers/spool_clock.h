// The clocks of one recorded process, brought together: CUPTI's times, when they are not CLOCK_REALTIME; each device's
// times, when work seems to start before the call that submitted it began or to end after a call that waited for it had
// returned; and steps of CLOCK_REALTIME, which are only told. Times are moved by whole devices, never one by one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/trace_builder.h"

namespace gpuprof {

// Readings at one moment; device 0: CUPTI had no clock.
struct SpoolClock {
    TimeNs realtime;
    std::int64_t monotonic, device;
};

// Where the rows of one process begin.
struct SpoolRows {
    SpoolRows() = default;
    explicit SpoolRows(const Tables& tables)
        : kernel(static_cast<Row>(tables.kernel.rows)),
          memcpy(static_cast<Row>(tables.memcpy.rows)),
          memset(static_cast<Row>(tables.memset.rows)),
          api_call(static_cast<Row>(tables.api_call.rows)),
          sync(static_cast<Row>(tables.sync.rows)),
          overhead(static_cast<Row>(tables.overhead.rows)),
          memory_event(static_cast<Row>(tables.memory_event.rows)) {}
    Row kernel = 0, memcpy = 0, memset = 0, api_call = 0, sync = 0, overhead = 0, memory_event = 0;
};

// The offset that CUPTI's clock has from CLOCK_REALTIME; absent when there is none to speak of (under a millisecond).
std::optional<DurNs> cupti_offset(const std::vector<SpoolClock>& clocks);
// Moves everything that CUPTI timed.
void move_cupti_times(Tables& tables, const SpoolRows& first, DurNs by);
// By how much CLOCK_REALTIME stepped while recording, in total; 0 when less than a millisecond.
DurNs clock_step(const std::vector<SpoolClock>& clocks);

// What is known of one device's clock: the true time of its work is the recorded one plus something from `least` to `most`.
struct DeviceClock {
    std::int32_t device = 0;
    std::optional<DurNs> least, most;  // absent: nothing bounds it on that side
    // The smallest move that agrees with both bounds, 0 when none is needed.
    DurNs move() const;
};
std::vector<DeviceClock> device_clocks(const Batch& batch, const SpoolRows& first);
void move_device(Tables& tables, const SpoolRows& first, const DeviceClock& clock);

}  // namespace gpuprof
