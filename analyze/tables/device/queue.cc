// `queue`: how much submitted work was waiting to start, per stream? An empty queue means that the device waits for the
// host; a queue that is always long means that the host waits, or has time for other work. An op joins the queue when
// its submitting call starts and leaves it when the op starts on the device. Ops whose call was not recorded are
// omitted and counted in the notes. Means are over time, from the first op that joins to the last that leaves.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/facts/idle/stream_work.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

using Stream = std::pair<std::int32_t, std::int64_t>;  // device, stream

struct Changes {
    std::map<Stream, std::vector<QueueChange>> of;
    std::size_t without_call = 0;
};

Changes gather_changes(const Facts& facts) {
    Changes changes;
    auto is_other = [&](const auto& table, Row row) {
        return facts.options().device >= 0 && table.device.value_or(row, -1) != facts.options().device;
    };
    auto add = [&](const auto& table, Row row, TimeNs joins, TimeNs leaves) {
        if (is_other(table, row)) return;
        std::vector<QueueChange>& to = changes.of[{table.device.value_or(row, -1), table.stream.value_or(row, -1)}];
        to.push_back({joins, 1});
        to.push_back({leaves, -1});
    };
    each_queued(facts.trace(), add, [&](const auto& table, Row row) { changes.without_call += !is_other(table, row); });
    return changes;
}

struct QueueLength {
    std::uint64_t ops = 0;
    double mean = 0, empty_pct = 0;
    std::int64_t most = 0;
};

QueueLength measure(std::vector<QueueChange>& changes) {
    QueueLength found;
    found.ops = changes.size() / 2;
    double weighted = 0, empty = 0;
    auto lengths = queue_lengths(changes);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        auto [time, length] = lengths[i];
        found.most = std::max(found.most, length);
        if (i + 1 == lengths.size()) break;
        auto lasted = static_cast<double>(lengths[i + 1].first - time);
        weighted += lasted * static_cast<double>(length);
        if (length <= 0) empty += lasted;
    }
    auto span = static_cast<double>(lengths.back().first - lengths.front().first);
    if (span > 0) {
        found.mean = weighted / span;
        found.empty_pct = 100 * empty / span;
    }
    return found;
}

struct QueueRow {
    const Stream& stream;
    QueueLength length;
};

constexpr auto kQueueColumns = columns_of<QueueRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.stream.first; }},
    {"stream", CellType::integer, Unit::none, "Stream id; absent when unknown.",
     [](auto& r) { return r.stream.second < 0 ? kAbsent : integer(r.stream.second); }},
    {"ops", CellType::integer, Unit::count, "Number of device ops whose call was recorded.",
     [](auto& r) { return r.length.ops; }},
    {"mean", CellType::real, Unit::count, "Mean number of ops submitted but not yet started, over time.",
     [](auto& r) { return r.length.mean; }},
    {"most", CellType::integer, Unit::count, "Maximum queue length.", [](auto& r) { return r.length.most; }},
    {"empty_pct", CellType::real, Unit::percent, "Share of the time with an empty queue.",
     [](auto& r) { return r.length.empty_pct; }},
});

Result<ResultTable> queue_table(const Facts& facts) {
    Changes changes = gather_changes(facts);
    ResultTable table("queue", kQueueColumns);
    table.handle_prefix = "q";
    for (auto& [stream, of] : changes.of) table.add(kQueueColumns, {stream, measure(of)});
    if (changes.without_call > 0)
        table.notes.push_back(fmt::format("{} device ops are omitted: the calls that submitted them were not recorded.",
                                          readable_count(static_cast<std::int64_t>(changes.without_call))));
    return table;
}

}  // namespace

const Analysis kQueue{"queue", "queue_length", "Per stream: number of submitted ops waiting to start.", kQueueColumns,
                      queue_table};

}  // namespace gpuprof::tables
