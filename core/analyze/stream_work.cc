#include "core/analyze/stream_work.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/model/trace.h"

namespace gpuprof {
namespace {

using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t>;
using Spans = std::map<Key, std::vector<Interval>>;

template <class Table>
void gather(const Table& table, std::int64_t only_device, Spans& streams) {
    Key key{};
    std::vector<Interval>* to = nullptr;
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only_device >= 0 && device != only_device) continue;
        Key here{device, table.context.value_or(row, -1), table.stream.value_or(row, -1)};
        if (to == nullptr || key != here) to = &streams[key = here];
        to->push_back({table.start[row], table.start[row] + table.dur[row]});
    }
}

}  // namespace

std::vector<StreamWork> stream_work(const Trace& trace, std::int64_t only_device) {
    Spans streams;
    gather(trace.kernel(), only_device, streams);
    gather(trace.memcpy(), only_device, streams);
    gather(trace.memset(), only_device, streams);
    std::vector<StreamWork> result;
    for (auto& [key, spans] : streams) {
        StreamWork& to = result.emplace_back();
        std::tie(to.device, to.context, to.stream) = key;
        to.ops = spans.size();
        to.first = spans.front().start;
        to.last = spans.front().end;
        for (Interval span : spans) {
            to.first = std::min(to.first, span.start);
            to.last = std::max(to.last, span.end);
        }
        to.busy = unite(std::move(spans));
    }
    return result;
}

}  // namespace gpuprof
