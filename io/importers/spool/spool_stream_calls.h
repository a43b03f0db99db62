// Calls about streams (struct StreamCall of core/format/spool.h) as rows of `sync`: which stream waits for which event, and where
// that event was recorded. An event stands for the last call that recorded it before the wait. Calls between the start
// and the end of a capture, on streams that belong to it, go into a graph: nothing waited then, so they become no rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/format/spool.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

class SpoolStreamCalls {
public:
    void add(const spool::StreamCall& call) { calls_.push_back(call); }
    // Adds the rows of one process, whose rows of `sync` begin at `first`. Records of CUPTI about the same call, which another client
    // requested, are completed instead. `call_of` returns the row in `api_call` of a correlation id.
    void finish(Batch& batch, Row first, StringId process,
                const std::function<std::optional<Row>(std::uint32_t)>& call_of);

private:
    using Stream = std::pair<std::uint32_t, std::uint32_t>;  // context, stream
    struct Recorded {
        std::uint32_t stream, correlation;
        std::optional<Stream> capture;  // the stream whose capture it belongs to
    };
    bool captured(const spool::StreamCall& call);
    void add_row(Batch& batch, const spool::StreamCall& call, StringId process,
                 const std::function<std::optional<Row>(std::uint32_t)>& call_of);

    std::vector<spool::StreamCall> calls_;
    std::map<Stream, Stream> capturing_;  // streams that are captured, by the stream on which their capture began
    std::unordered_map<std::uint64_t, Recorded> recorded_;  // by event
    std::unordered_map<std::uint32_t, Row> known_;          // rows by correlation id
};

}  // namespace gpuprof::importers
