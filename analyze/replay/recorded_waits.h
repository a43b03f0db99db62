// What the calls of a recording wait for: a synchronisation for streams, and a stream for an event of another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/replay/graph.h"
#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline replay {

// What a call that synchronises waits for: one stream, the part of it before an event, or all streams of its process. Ops
// of a stream that were issued before a time.
struct SyncScope {
    std::int64_t stream = -1;
    TimeNs issued_before = std::numeric_limits<TimeNs>::max();
};

class SyncScopes {
public:
    explicit SyncScopes(const Trace& trace);
    // Whether the call waits for the whole device: cudaDeviceSynchronize, cuCtxSynchronize.
    bool whole_device(StringId name) const { return name != kNoString && device_[index_of(name)]; }
    // What the recording says it waited for.
    std::optional<SyncScope> of(Row call) const;

private:
    struct Recorded {
        StringId process;
        std::int64_t correlation;
        SyncScope scope;
        auto key() const { return std::pair(process, correlation); }
    };
    const Trace& trace_;
    std::vector<bool> device_;  // by string
    std::vector<Recorded> recorded_;
};

// Waits of one stream for another: cudaEventRecord and cudaStreamWaitEvent, as recorded or as inferred from the order of ops.
//
// Most recordings have the calls and neither their streams nor their events. An event is then taken to be the last that the waiting
// thread recorded, and a pair of streams (a, b) is possible if no occurrence contradicts it: the first op on b after the wait never
// started before the last op on a before the event had ended. A possible pair counts if it occurs often enough and b, with its work
// queued, started right after a ended at least once.
//
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
