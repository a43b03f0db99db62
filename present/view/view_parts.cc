#include "present/view/view_parts.h"

#include <algorithm>

#include "analyze/facts/steps/iterations.h"
#include "core/base/parallel.h"

namespace gpuprof::inline view {
namespace {

struct Extent {
    TimeNs start, end;
    std::int64_t events;
    DurNs busy;
};
Extent extent(const Slice& s) { return {s.start, s.start + s.dur, 1, s.dur}; }
Extent extent(const MergedSlice& s) { return {s.start, s.start + s.dur, s.count, s.busy}; }
Extent extent(const Value& v) { return {v.time, v.time, 1, 0}; }
Extent extent(const MergedValue& v) { return {v.time, v.time, v.count, 0}; }

template <class Items>
std::vector<Chunk> chunks_of(const Items& items) {
    std::vector<Chunk> chunks;
    std::int64_t events = 0;
    DurNs busy = 0;
    auto next = items.begin();
    for (std::size_t first = 0; first < items.size(); first += kLaneRows) {
        Chunk& chunk = chunks.emplace_back();
        chunk.first = first;
        chunk.count = std::min(kLaneRows, items.size() - first);
        chunk.events_before = events;
        chunk.time_before = busy;
        chunk.end = chunk.start = extent(*next).start;
        for (std::size_t i = 0; i < chunk.count; ++i, ++next) {
            Extent each = extent(*next);
            chunk.end = std::max(chunk.end, each.end);
            events += each.events;
            busy += each.busy;
        }
    }
    return chunks;
}

// A level is kept if each of its items stands for at least this many events.
constexpr std::size_t kEventsPerKeptItem = 16;

template <class Events, class Merged>
void arrange_lane(const Events& events, std::vector<Level<Merged>>& levels, std::vector<std::vector<Chunk>>& chunks) {
    chunks.push_back(chunks_of(events));
    levels = levels_of(events, SeeLevel<Merged>([&](Level<Merged>& level) {
                           chunks.push_back(chunks_of(level.items));
                           if (level.items.size() * kEventsPerKeptItem > events.size()) level.items = {};
                       }));
}

void arrange_lane(const Lane& lane, LaneParts& parts) {
    lane.table == SliceTable::none ? arrange_lane(lane.values, parts.values, parts.chunks)
                                   : arrange_lane(lane.slices, parts.slices, parts.chunks);
}

bool has_frames(const Lane& lane) {
    return lane.table != SliceTable::none && !is_times_only(lane.table) && lane.slices.size() > 0;
}

}  // namespace

ViewParts::ViewParts(Trace rebase_to_start, std::optional<Trace> of_job, const Options& options)
    : trace(std::move(rebase_to_start)),
      summaries(std::move(of_job)),
      facts(std::make_unique<Facts>(trace, options)),
      iterations(facts->get<Iterations>().all.size()) {
    std::vector<LaneParts> host;  // the last lanes
    scene = make_scene(*facts, [&](const Scene& part) {
        for (const Lane& lane : part.lanes) arrange_lane(lane, host.emplace_back());
    });
    strings.merge(trace.strings());
    auto add_lanes = [&] {
        arrange_lanes(0, scene.lanes.size() - host.size());
        std::move(host.begin(), host.end(), lanes.end() - static_cast<std::ptrdiff_t>(host.size()));
    };
    run_together(trace.kernel().rows + trace.op().rows + trace.api_call().rows,
                 {add_lanes, [this] { count_names(); }, [this] { tables = event_tables(*facts, scene, strings); }});
    number_timeline();
}

void ViewParts::start_stacks() const {
    std::call_once(started_, [this] {
        const GraphOrigins& origins = facts->get<GraphOrigins>();
        computed_ = std::async(std::launch::async | std::launch::deferred, [this, &origins] {
            Stacks found{call_stacks(trace, scene, origins), {}};
            if (has_stacks) found.sums = chunk_sums(lanes, scene, trace.tables(), found.stacks);
            return found;
        });
    });
}

void ViewParts::wait() const {
    start_stacks();
    computed_.wait();
}

void ViewParts::add_answer(AnswerJson given) {
    answer = std::move(given);
    add_critical_path(answer.path, trace, scene);
    if (!answer.path.spans.empty())
        answer.path.spans = PodVector<ViewPathSpan>(1, answer.path.spans[0]);  // that there are any is still told
    long_rows = std::make_unique<LongTableRows>(answered(), facts->options(), answer.part);
    facts.reset();
    number_job();
    first_blob_of_kernels = blobs.size();
    for (std::uint32_t kernel = 0; kernel < answer.kernels.pages.size(); ++kernel)
        blobs.push_back({Blob::kKernel, kernel});
    const std::size_t first_of_path = lanes.size();
    arrange_lanes(first_of_path, scene.lanes.size());
    for (std::size_t lane = first_of_path; lane < lanes.size(); ++lane)
        for (std::size_t level = lanes[lane].levels(); level-- > 0;)
            number_level(static_cast<std::uint32_t>(lane), level);
    for (std::uint32_t table = 0; table < answer.long_tables.size(); ++table) {
        first_blob_of_long_table.push_back(blobs.size());
        const std::size_t rows = answer.long_tables[table].rows;
        for (std::size_t first = 0; first < rows; first += kChunkRows)
            blobs.push_back({Blob::kRows, table, 0, first, std::min(kChunkRows, rows - first)});
    }
}

void ViewParts::arrange_lanes(std::size_t first, std::size_t last) {
    lanes.resize(scene.lanes.size());
    std::size_t events = 0;
    std::vector<std::function<void()>> arrange;
    for (std::size_t i = first; i < last; ++i) {
        const Lane& lane = scene.lanes[i];
        LaneParts& parts = lanes[i];
        events += lane.slices.size() + lane.values.size();
        arrange.push_back([&] { arrange_lane(lane, parts); });
    }
    run_together(events, arrange);
}

void ViewParts::count_names() {
    for (const Lane& lane : scene.lanes)
        for (const Slice& slice : lane.slices) {
            if (slice.name == kNoString) continue;
            auto [found, added] = names.try_emplace({lane.table, slice.name});
            NameTotal& name = found->second;
            if (added) name.first = name.last = slice.start;
            name.count += 1;
            name.total += slice.dur;
            name.first = std::min(name.first, slice.start);
            name.last = std::max(name.last, slice.start);
        }
}

void ViewParts::number_level(std::uint32_t lane, std::size_t level) {
    for (Chunk& chunk : lanes[lane].chunks[level]) {
        chunk.blob = blobs.size();
        blobs.push_back({Blob::kLane, lane, static_cast<std::uint32_t>(level), chunk.first, chunk.count});
    }
}

void ViewParts::number_job() {
    const JobPages& job = answer.job;
    if (job.about.empty()) return;
    blobs.push_back({Blob::kJob});
    for (std::size_t i = 0; i < job.cells.size(); ++i) {
        blob_of_cells.push_back(blobs.size());
        blobs.push_back({Blob::kCells, static_cast<std::uint32_t>(i)});
    }
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
        blob_of_steps.push_back(blobs.size());
        blobs.push_back({Blob::kStep, static_cast<std::uint32_t>(i)});
    }
}

// Chunks of events are in order of time, whatever their lane, so that a page with everything in one file reads few
// segments for what happened at a time. Their stacks follow them.
void ViewParts::number_events() {
    std::vector<std::pair<Chunk*, std::uint32_t>> chunks;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
        for (Chunk& chunk : lanes[lane].chunks[0]) chunks.emplace_back(&chunk, lane);
    std::stable_sort(chunks.begin(), chunks.end(), [](auto& a, auto& b) { return a.first->start < b.first->start; });
    for (auto [chunk, lane] : chunks) {
        if (lanes[lane].levels() > 1) {
            chunk->blob = blobs.size();
            blobs.push_back({Blob::kLane, lane, 0, chunk->first, chunk->count});
        }
        if (!has_frames(scene.lanes[lane])) continue;
        chunk->stacks = blobs.size();
        blobs.push_back({Blob::kStacks, lane, 0, chunk->first, chunk->count});
    }
}

void ViewParts::number_timeline() {
    has_stacks = std::any_of(scene.lanes.begin(), scene.lanes.end(), has_frames);
    std::size_t max_levels = 0;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        number_level(lane, lanes[lane].levels() - 1);
        max_levels = std::max(max_levels, lanes[lane].levels());
    }
    blobs.push_back({Blob::kBusyShares});
    blobs.push_back({Blob::kReport});
    if (!names.empty()) blobs.push_back({Blob::kNames});
    early = blobs.size();
    if (has_stacks) {
        blobs.push_back({Blob::kFrames});
        blobs.push_back({Blob::kCuts});
        blobs.push_back({Blob::kSums});
    }
    for (std::size_t level = max_levels; level-- > 1;)
        for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
            if (level + 1 < lanes[lane].levels()) number_level(lane, level);
    number_events();
    for (std::uint32_t table = 0; table < tables.size(); ++table)
        for (std::size_t first = 0; first < tables[table].rows; first += kChunkRows) {
            if (first == 0) first_blob_of_table.push_back(blobs.size());
            blobs.push_back({Blob::kTable, table, 0, first, std::min(kChunkRows, tables[table].rows - first)});
        }
}

}  // namespace gpuprof::view
