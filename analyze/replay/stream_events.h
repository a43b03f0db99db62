// Waits of one stream for another: cudaEventRecord and cudaStreamWaitEvent, as recorded or as inferred from the order of ops.
//
// Most recordings have the calls and neither their streams nor their events. An event is then taken to be the last that the waiting
// thread recorded, and a pair of streams (a, b) is possible if no occurrence contradicts it: the first op on b after the wait never
// started before the last op on a before the event had ended. A possible pair counts if it occurs often enough and b, with its work
// queued, started right after a ended at least once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/replay/graph.h"
#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline replay {

// An op as the streams see it.
struct IssuedOp {
    TimeNs issued = 0;  // start of its call
    TimeNs start = 0, end = 0;
};

// Ops issued to `to` at or after `waited` wait for ops issued to `from` before `recorded`.
struct StreamWait {
    std::uint16_t from = 0, to = 0;  // streams
    TimeNs recorded = 0, waited = 0;
};

struct StreamWaits {
    std::vector<StreamWait> waits;  // by `waited`
    std::uint64_t recorded = 0, inferred = 0;
    std::uint64_t unsure = 0;  // occurrences of pairs that are possible and too rare to count
};

// `ops` has the ops of each stream, in order. Nothing is inferred if the recording has the streams of waits.
StreamWaits find_stream_waits(const Trace& trace, const std::vector<ReplayStream>& streams,
                              const std::vector<std::vector<IssuedOp>>& ops);

// Whether the recording has any call that makes a stream wait for an event.
bool has_stream_waits(const Trace& trace);

}  // namespace gpuprof::replay
