// `overlap`: what runs at the same time, and what is exposed? Per device: kernels with memcpys and with collectives, if
// any, and every pair of streams. All times are lengths of unions; a_ns = both_ns + a_exposed_ns, likewise for b.
// In the pair (kernel, comm), `kernel` means kernels that are not collectives.
// On a device with many streams, only the busiest kMaxStreams are paired, and a note says so.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/stream_work.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::size_t kMaxStreams = 64;

struct Pair {
    std::string a, b;
    DurNs a_ns = 0, b_ns = 0, both_ns = 0;
};

Pair pair_of(std::string_view a, std::string_view b, const IntervalSet& a_set, const IntervalSet& b_set) {
    return {std::string(a), std::string(b), length(a_set), length(b_set), length(intersect(a_set, b_set))};
}

DurNs shared_length(const IntervalSet& a, const IntervalSet& b) {
    DurNs sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        sum += std::max<DurNs>(0, std::min(a[i].end, b[j].end) - std::max(a[i].start, b[j].start));
        a[i].end < b[j].end ? ++i : ++j;
    }
    return sum;
}

// The busiest kMaxStreams streams of a device, in the order of stream_work().
std::vector<const StreamWork*> streams_to_pair(const std::vector<StreamWork>& all, std::int32_t device,
                                               std::size_t& left_out) {
    std::vector<const StreamWork*> streams;
    for (const StreamWork& stream : all)
        if (stream.device == device) streams.push_back(&stream);
    left_out = streams.size() - std::min(streams.size(), kMaxStreams);
    if (left_out == 0) return streams;
    std::stable_sort(streams.begin(), streams.end(),
                     [](auto* a, auto* b) { return length(a->busy) > length(b->busy); });
    streams.resize(kMaxStreams);
    std::sort(streams.begin(), streams.end());  // they point into one array
    return streams;
}

std::vector<Pair> stream_pairs(const std::vector<const StreamWork*>& streams) {
    std::vector<DurNs> busy;
    for (const StreamWork* stream : streams) busy.push_back(length(stream->busy));
    auto name = [](const StreamWork& work) {
        return work.stream < 0 ? "stream ?" : fmt::format("stream {}", work.stream);
    };
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < streams.size(); ++a)
        for (std::size_t b = a + 1; b < streams.size(); ++b)
            pairs.push_back({name(*streams[a]), name(*streams[b]), busy[a], busy[b],
                             shared_length(streams[a]->busy, streams[b]->busy)});
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.both_ns > b.both_ns; });
    return pairs;
}

struct OverlapRow {
    std::int32_t device;
    const Pair& pair;
};

constexpr auto kOverlapColumns = columns_of<OverlapRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device < 0 ? kAbsent : integer(r.device); }},
    {"a", CellType::text, Unit::none, "kernel, or a stream.", [](auto& r) { return r.pair.a; }},
    {"b", CellType::text, Unit::none, "memcpy, comm (collective kernels), or another stream.",
     [](auto& r) { return r.pair.b; }},
    {"a_ns", CellType::integer, Unit::ns, "Time with a in flight.", [](auto& r) { return r.pair.a_ns; }},
    {"b_ns", CellType::integer, Unit::ns, "Time with b in flight.", [](auto& r) { return r.pair.b_ns; }},
    {"both_ns", CellType::integer, Unit::ns, "Time with both in flight.", [](auto& r) { return r.pair.both_ns; }},
    {"a_exposed_ns", CellType::integer, Unit::ns, "Time with a but not b in flight.",
     [](auto& r) { return r.pair.a_ns - r.pair.both_ns; }},
    {"b_exposed_ns", CellType::integer, Unit::ns, "Time with b but not a in flight.",
     [](auto& r) { return r.pair.b_ns - r.pair.both_ns; }},
});

Result<ResultTable> overlap_table(const Facts& facts) {
    ResultTable table("overlap", kOverlapColumns);
    table.handle_prefix = "o";
    std::vector<StreamWork> all = stream_work(facts.trace(), facts.options().device);
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        if (device.memcpys > 0)
            table.add(kOverlapColumns, {device.device, pair_of("kernel", "memcpy", device.kernel(), device.memcpy)});
        if (!device.comm.empty())
            table.add(kOverlapColumns, {device.device, pair_of("kernel", "comm", device.compute(), device.comm)});
        std::size_t left_out = 0;
        for (const Pair& pair : stream_pairs(streams_to_pair(all, device.device, left_out)))
            table.add(kOverlapColumns, {device.device, pair});
        if (left_out > 0)
            table.notes.push_back(
                fmt::format("Device {}: only the {} busiest streams are paired; {} others are omitted.", device.device,
                            kMaxStreams, left_out));
    }
    return table;
}

}  // namespace

const Analysis kOverlap{"overlap", "", "Per pair of work kinds or streams: shared and exposed time.", kOverlapColumns,
                        overlap_table};

}  // namespace gpuprof::tables
