// `queue`: how much submitted work was waiting to start, per stream? An empty queue means that the device waits for the
// host; a queue that is always long means that the host waits, or has time for other work. An op joins the queue when
// its submitting call starts and leaves it when the op starts on the device. Ops whose call was not recorded are
// omitted and counted in the notes. Means are over time, from the first op that joins to the last that leaves.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analyze/facts/device_op.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

struct Change {
    TimeNs time;
    int by;  // at equal times, leaving sorts before joining
    auto operator<=>(const Change&) const = default;
};

using Stream = std::pair<std::int32_t, std::int64_t>;  // device, stream

struct Changes {
    std::map<Stream, std::vector<Change>> of;
    std::size_t without_call = 0;
};

template <DeviceOp Kind, class Table>
void gather(const Facts& facts, const Table& table, Changes& changes) {
    const Trace& trace = facts.trace();
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (facts.options().device >= 0 && device != facts.options().device) continue;
        Row call = launch_of(trace, Kind, row);
        if (call == kNoRow) {
            ++changes.without_call;
            continue;
        }
        std::vector<Change>& to = changes.of[{device, table.stream.value_or(row, -1)}];
        // With skewed clocks an op can start before its call; it never waited.
        to.push_back({std::min(trace.api_call().start[call], table.start[row]), 1});
        to.push_back({table.start[row], -1});
    }
}

struct QueueLength {
    std::uint64_t ops = 0;
    double mean = 0, empty_pct = 0;
    std::int64_t most = 0;
};

QueueLength measure(std::vector<Change>& changes) {
    std::sort(changes.begin(), changes.end());
    QueueLength found;
    std::int64_t length = 0;
    double weighted = 0, empty = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (i > 0) {
            auto passed = static_cast<double>(changes[i].time - changes[i - 1].time);
            weighted += passed * static_cast<double>(std::max<std::int64_t>(0, length));
            if (length <= 0) empty += passed;
        }
        length += changes[i].by;
        found.ops += changes[i].by > 0;
        found.most = std::max(found.most, length);
    }
    auto span = static_cast<double>(changes.back().time - changes.front().time);
    if (span > 0) found.mean = weighted / span, found.empty_pct = 100 * empty / span;
    return found;
}

constexpr ResultColumn kColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"stream", CellType::integer, Unit::none, "Stream id; absent when unknown."},
    {"ops", CellType::integer, Unit::count, "Number of device ops whose call was recorded."},
    {"mean", CellType::real, Unit::count, "Mean number of ops submitted but not yet started, over time."},
    {"most", CellType::integer, Unit::count, "Maximum queue length."},
    {"empty_pct", CellType::real, Unit::percent, "Share of the time with an empty queue."},
};

Result<ResultTable> run(const Facts& facts) {
    Changes changes;
    gather<DeviceOp::kernel>(facts, facts.trace().kernel(), changes);
    gather<DeviceOp::memcpy>(facts, facts.trace().memcpy(), changes);
    gather<DeviceOp::memset>(facts, facts.trace().memset(), changes);
    ResultTable table("queue", kColumns);
    table.handle_prefix = "q";
    for (auto& [stream, of] : changes.of) {
        QueueLength length = measure(of);
        table.add_row({integer(stream.first), stream.second < 0 ? kAbsent : integer(stream.second), integer(length.ops),
                       real(length.mean), integer(length.most), real(length.empty_pct)});
    }
    if (changes.without_call > 0)
        table.notes.push_back(fmt::format("{} device ops are omitted: the calls that submitted them were not recorded.",
                                          changes.without_call));
    return table;
}

}  // namespace

const Analysis kQueue{"queue", "queue_length", "Per stream: number of submitted ops waiting to start.", kColumns, run};

}  // namespace gpuprof
