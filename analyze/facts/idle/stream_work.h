// The work of each stream: the union of its ops. A stream is a device, a context and a stream id; streams of different
// contexts are different streams even when they share an id.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyze/facts/device_op.h"
#include "core/model/interval.h"

namespace gpuprof::inline model {
class Trace;
}

namespace gpuprof::inline facts {

struct StreamWork {
    std::int32_t device = -1;  // -1: not recorded, here and below
    std::int32_t context = -1;
    std::int64_t stream = -1;
    std::uint64_t ops = 0;
    IntervalSet busy;
    TimeNs first = 0, last = 0;  // start of the first op, end of the last, including empty ops
};

// Streams with ops, by device, context and id. `only_device` < 0 selects all devices.
std::vector<StreamWork> stream_work(const Trace& trace, std::int64_t only_device);

// The queues of streams: a device op joins the queue of its stream when its submitting call starts, and leaves it when
// it starts on the device.
struct QueueChange {
    TimeNs time;
    int by;  // 1 or -1; at equal times, leaving sorts before joining
    auto operator<=>(const QueueChange&) const = default;
};

// Calls visit(table, row, joins, leaves) for each device op, and unknown(table, row) for ops whose call was not
// recorded.
template <class Visit, class Unknown>
void each_queued(const Trace& trace, Visit&& visit, Unknown&& unknown) {
    auto each = [&](DeviceOp kind, const auto& table) {
        for (Row row = 0; row < table.rows; ++row)
            if (Row call = launch_of(trace, kind, row); call == kNoRow)
                unknown(table, row);
            else  // with skewed clocks an op can start before its call; it never waited
                visit(table, row, std::min(trace.api_call().start[call], table.start[row]), table.start[row]);
    };
    each(DeviceOp::kernel, trace.kernel());
    each(DeviceOp::memcpy, trace.memcpy());
    each(DeviceOp::memset, trace.memset());
}

// The number of ops in a queue from each time on at which it changes. Sorts the changes.
std::vector<std::pair<TimeNs, std::int64_t>> queue_lengths(std::vector<QueueChange>& changes);

}  // namespace gpuprof::facts
