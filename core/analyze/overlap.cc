// `overlap`: what runs at the same time, and what is exposed? Per device: kernels with copies and with collectives, where
// there are any, and every pair of streams. All times are lengths of unions; a_ns = both_ns + a_exposed_ns, likewise for b.
// In the pair (kernel, comm), `kernel` means kernels that are not collectives.
// A device with more than kStreamsPaired streams lists only the pairs of streams that overlap, and says so.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/analyze/activity.h"
#include "core/analyze/analysis_list.h"
#include "core/analyze/cells.h"
#include "core/analyze/stream_work.h"

namespace gpuprof {
namespace {

constexpr std::size_t kStreamsPaired = 64;

struct Pair {
    std::string a, b;
    DurNs a_ns = 0, b_ns = 0, both_ns = 0;
};

Pair pair_of(std::string_view a, std::string_view b, const IntervalSet& a_set, const IntervalSet& b_set) {
    return {std::string(a), std::string(b), length(a_set), length(b_set), length(intersect(a_set, b_set))};
}

// Time that each two of the streams share, by their indices (smaller first); pairs that share none are not in it.
// One sweep over all starts and ends: linear in intervals times the streams that are busy at once.
using Shared = std::map<std::pair<std::size_t, std::size_t>, DurNs>;

Shared shared_time(const std::vector<const StreamWork*>& streams) {
    struct Edge {
        TimeNs at;
        std::size_t stream;
        bool begins;
    };
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < streams.size(); ++i)
        for (Interval span : streams[i]->busy) {
            edges.push_back({span.start, i, true});
            edges.push_back({span.end, i, false});
        }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });

    Shared shared;
    std::vector<std::size_t> open;  // ascending
    TimeNs last = 0;
    for (const Edge& edge : edges) {
        if (open.size() > 1 && edge.at > last)
            for (std::size_t i = 0; i < open.size(); ++i)
                for (std::size_t j = i + 1; j < open.size(); ++j) shared[{open[i], open[j]}] += edge.at - last;
        auto place = std::lower_bound(open.begin(), open.end(), edge.stream);
        if (edge.begins) {
            open.insert(place, edge.stream);
        } else {
            open.erase(place);
        }
        last = edge.at;
    }
    return shared;
}

std::vector<Pair> stream_pairs(const std::vector<const StreamWork*>& streams) {
    Shared shared = shared_time(streams);
    std::vector<Pair> pairs;
    auto add = [&](std::size_t a, std::size_t b, DurNs both) {
        auto name = [](const StreamWork& work) {
            return work.stream < 0 ? "stream ?" : fmt::format("stream {}", work.stream);
        };
        pairs.push_back(
            {name(*streams[a]), name(*streams[b]), length(streams[a]->busy), length(streams[b]->busy), both});
    };
    if (streams.size() > kStreamsPaired) {
        for (auto& [pair, both] : shared) add(pair.first, pair.second, both);
    } else {
        for (std::size_t a = 0; a < streams.size(); ++a)
            for (std::size_t b = a + 1; b < streams.size(); ++b) {
                auto found = shared.find({a, b});
                add(a, b, found == shared.end() ? 0 : found->second);
            }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.both_ns > b.both_ns; });
    return pairs;
}

constexpr ResultColumn kColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"a", CellType::text, Unit::none, "kernel, or a stream."},
    {"b", CellType::text, Unit::none, "memcpy, comm (collective kernels), or another stream."},
    {"a_ns", CellType::integer, Unit::ns, "Time with a in flight."},
    {"b_ns", CellType::integer, Unit::ns, "Time with b in flight."},
    {"both_ns", CellType::integer, Unit::ns, "Time with both in flight."},
    {"a_exposed_ns", CellType::integer, Unit::ns, "Time with a but not b in flight."},
    {"b_exposed_ns", CellType::integer, Unit::ns, "Time with b but not a in flight."},
};

void add_row(ResultTable& table, std::int32_t device, const Pair& pair) {
    table.add_row({
        device < 0 ? kAbsent : integer(device),
        pair.a,
        pair.b,
        integer(pair.a_ns),
        integer(pair.b_ns),
        integer(pair.both_ns),
        integer(pair.a_ns - pair.both_ns),
        integer(pair.b_ns - pair.both_ns),
    });
}

Result<ResultTable> run(const Study& study) {
    ResultTable table("overlap", kColumns);
    table.handle_prefix = "o";
    std::vector<StreamWork> all = stream_work(study.trace(), study.options().device);
    for (const DeviceActivity& device : study.activity()) {
        if (device.memcpys > 0)
            add_row(table, device.device, pair_of("kernel", "memcpy", device.kernel, device.memcpy));
        if (!device.comm.empty()) add_row(table, device.device, pair_of("kernel", "comm", device.compute, device.comm));
        std::vector<const StreamWork*> streams;
        for (const StreamWork& stream : all)
            if (stream.device == device.device) streams.push_back(&stream);
        for (const Pair& pair : stream_pairs(streams)) add_row(table, device.device, pair);
        if (streams.size() > kStreamsPaired)
            table.notes.push_back(
                fmt::format("Device {} has {} streams: only pairs of streams that overlap are listed.", device.device,
                            streams.size()));
    }
    return table;
}

}  // namespace

const Analysis kOverlap{"overlap", "", "Per pair of kinds of work or streams: shared and exposed time.", kColumns, run};

}  // namespace gpuprof
