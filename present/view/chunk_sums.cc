#include "present/view/chunk_sums.h"

#include <optional>

#include "core/model/trace.h"

namespace gpuprof::inline view {
namespace {

struct Sum {
    std::int64_t count = 0, time = 0, bytes = 0;
    bool bytes_known = true;
};

// The sums of one chunk at a time, by frame.
class Adder {
public:
    Adder(const Tables& tables, std::size_t frames) : tables_(tables), sums_(frames) {}

    void add(std::uint32_t frame, SliceTable table, const Slice& slice) {
        Sum& sum = sums_[frame];
        if (sum.count++ == 0) met_.push_back(frame);
        sum.time += slice.dur;
        std::optional<std::int64_t> bytes = bytes_of(tables_, table, slice.row);
        sum.bytes += bytes.value_or(0);
        sum.bytes_known = sum.bytes_known && bytes;
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
    for (std::size_t at = 0; at < lanes.size(); ++at) {
        const Lane& lane = scene.lanes[at];
        const PodVector<std::uint32_t>& frames = stacks.of_lane[at];
        if (frames.size() == 0) continue;
        for (const Chunk& chunk : lanes[at].chunks[0]) {
            for (std::size_t i = chunk.first; i < chunk.first + chunk.count; ++i)
                if (frames[i] != kNoFrame) adder.add(frames[i], lane.table, lane.slices[i]);
            adder.finish(chunk.blob, out);
        }
    }
    out.bytes.pad(out.rows);
    return out;
}

}  // namespace gpuprof::view
