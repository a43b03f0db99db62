// `streams`: which streams had work, and when? One row per device and stream, busiest first.
#include <algorithm>

#include "analyze/facts/idle/stream_work.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct StreamRow {
    const StreamWork& stream;
    TimeNs origin;
};

constexpr auto kStreamsColumns = columns_of<StreamRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.stream.device < 0 ? kAbsent : integer(r.stream.device); }},
    {"stream", CellType::integer, Unit::none, "Stream id.",
     [](auto& r) { return r.stream.stream < 0 ? kAbsent : integer(r.stream.stream); }},
    {"ops", CellType::integer, Unit::count, "Number of kernels, memcpys and memsets.",
     [](auto& r) { return r.stream.ops; }},
    {"busy_ns", CellType::integer, Unit::ns, "Time with an op in flight.",
     [](auto& r) { return length(r.stream.busy); }},
    {"first_ns", CellType::integer, Unit::ns, "Start of the first op, relative to the window start.",
     [](auto& r) { return r.stream.first - r.origin; }},
    {"last_ns", CellType::integer, Unit::ns, "End of the last op, relative to the window start.",
     [](auto& r) { return r.stream.last - r.origin; }},
});

Result<ResultTable> streams_table(const Facts& facts) {
    TimeNs origin = facts.trace().zero();
    std::vector<StreamWork> streams = stream_work(facts.trace(), facts.options().device);
    std::stable_sort(streams.begin(), streams.end(),
                     [](const StreamWork& a, const StreamWork& b) { return length(a.busy) > length(b.busy); });
    ResultTable table("streams", kStreamsColumns);
    table.handle_prefix = "st";
    for (const StreamWork& stream : streams) table.add(kStreamsColumns, {stream, origin});
    return table;
}

}  // namespace

const Analysis kStreams{"streams", "", "Per device and stream: ops, busy time, first start and last end.",
                        kStreamsColumns, streams_table};

}  // namespace gpuprof::tables
