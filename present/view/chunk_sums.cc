#include "present/view/chunk_sums.h"

#include <optional>
#include <span>
#include <utility>

#include "core/model/trace.h"

namespace gpuprof::inline view {
namespace {

struct Sum {
    std::int64_t count = 0, time = 0, bytes = 0;
    bool bytes_known = true, met = false;
};

// The sums of one chunk at a time, by frame.
class Adder {
public:
    Adder(const Tables& tables, std::size_t frames) : tables_(tables), sums_(frames) {}

    // `cuts`: of the slice.
    void add(std::uint32_t frame, SliceTable table, const Slice& slice, std::span<const StackCut> cuts) {
        std::optional<std::int64_t> bytes = bytes_of(tables_, table, slice.row);
        TimeNs start = slice.start;
        for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
            Sum& sum = sums_[frame];
            if (!sum.met) met_.push_back(frame);
            sum.met = true;
            sum.count += piece == 0 ? 1 : 0;
            TimeNs end = piece < cuts.size() ? cuts[piece].time : slice.start + slice.dur;
            sum.time += end - std::exchange(start, end);
            sum.bytes += bytes.value_or(0);
            sum.bytes_known = sum.bytes_known && bytes;
            if (piece < cuts.size()) frame = cuts[piece].frame;
        }
    }
    void finish(std::size_t blob, ChunkSums& out) {
        for (std::uint32_t frame : met_) {
            const Sum& sum = sums_[frame];
            out.chunk.set(out.rows, static_cast<std::int64_t>(blob));
            out.frame.set(out.rows, frame);
            out.count.set(out.rows, sum.count);
            out.time.set(out.rows, sum.time);
            if (sum.bytes_known) out.bytes.set(out.rows, sum.bytes);
            ++out.rows;
            sums_[frame] = {};
        }
        met_.clear();
    }

private:
    const Tables& tables_;
    std::vector<Sum> sums_;
    std::vector<std::uint32_t> met_;
};

}  // namespace

std::optional<std::int64_t> bytes_of(const Tables& tables, SliceTable table, Row row) {
    if (table == SliceTable::memcpy) return tables.memcpy.bytes.get(row);
    if (table == SliceTable::memset) return tables.memset.bytes.get(row);
    return std::nullopt;
}

ChunkSums chunk_sums(const std::vector<LaneParts>& lanes, const Scene& scene, const Tables& tables,
                     const CallStacks& stacks) {
    ChunkSums out;
    Adder adder(tables, stacks.frames.size());
    auto next = stacks.cuts.begin();
    auto cuts_of = [&](std::size_t lane, std::size_t slice) {
        auto first = next;
        while (next != stacks.cuts.end() && next->lane == lane && next->slice == slice) ++next;
        return std::span<const StackCut>(first, next);
    };
    for (std::size_t at = 0; at < lanes.size(); ++at) {
        const Lane& lane = scene.lanes[at];
        if (stacks.of_lane[at].size() == 0) continue;
        auto slice = lane.slices.begin();
        for (const Chunk& chunk : lanes[at].chunks[0]) {
            for (std::size_t i = chunk.first; i < chunk.first + chunk.count; ++i, ++slice)
                if (std::uint32_t frame = stacks.frame(at, i); frame != kNoFrame)
                    adder.add(frame, lane.table, *slice, cuts_of(at, i));
            adder.finish(chunk.blob, out);
        }
    }
    out.bytes.pad(out.rows);
    for (Column<std::int64_t>* column : {&out.chunk, &out.frame, &out.count, &out.time, &out.bytes}) column->narrow();
    return out;
}

}  // namespace gpuprof::view
