#include "analyze/facts/idle/stream_work.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

using StreamKey = std::tuple<std::int32_t, std::int32_t, std::int64_t>;
using Streams = std::map<StreamKey, StreamWork>;

// Adds the ops of one table, whose rows come by start.
template <class Table>
void gather(const Table& table, std::int64_t only_device, Streams& streams) {
    std::map<StreamKey, IntervalSet> unions;
    StreamKey key{};
    StreamWork* to = nullptr;
    IntervalSet* busy = nullptr;
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only_device >= 0 && device != only_device) continue;
        StreamKey here{device, table.context.value_or(row, -1), table.stream.value_or(row, -1)};
        if (to == nullptr || key != here) {
            key = here;
            to = &streams[key];
            busy = &unions[key];
        }
        TimeNs start = table.start[row], end = start + table.dur[row];
        to->first = to->ops == 0 ? start : std::min(to->first, start);
        to->last = to->ops == 0 ? end : std::max(to->last, end);
        ++to->ops;
        add_merged(*busy, {start, end});
    }
    for (auto& [stream, set] : unions) {
        IntervalSet& known = streams[stream].busy;
        known = known.empty() ? std::move(set) : unite(known, set);
    }
}

}  // namespace

std::vector<StreamWork> stream_work(const Trace& trace, std::int64_t only_device) {
    Streams streams;
    gather(trace.kernel(), only_device, streams);
    gather(trace.memcpy(), only_device, streams);
    gather(trace.memset(), only_device, streams);
    std::vector<StreamWork> result;
    for (auto& [key, work] : streams) {
        std::tie(work.device, work.context, work.stream) = key;
        result.push_back(std::move(work));
    }
    return result;
}

std::vector<std::pair<TimeNs, std::int64_t>> queue_lengths(std::vector<QueueChange>& changes) {
    std::sort(changes.begin(), changes.end());
    std::vector<std::pair<TimeNs, std::int64_t>> lengths;
    lengths.reserve(changes.size());
    std::int64_t length = 0;
    for (const QueueChange& change : changes) {
        length += change.by;
        if (!lengths.empty() && lengths.back().first == change.time)
            lengths.back().second = length;
        else
            lengths.emplace_back(change.time, length);
    }
    return lengths;
}

}  // namespace gpuprof::facts
