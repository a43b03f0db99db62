// Blobs: rows of a level, a table or the list of names as an uncompressed payload of the capture format; and JSON
// unchanged.
#include <vector>

#include "analyze/knowledge/kernel_class.h"
#include "core/format/payload.h"
#include "present/view/chunk_sums.h"
#include "present/view/view_parts.h"

namespace gpuprof::inline view {
namespace {

// One column of a payload under construction.
template <class T>
struct ColumnBuffer {
    ColumnBuffer(std::string_view called, ColumnType of, std::string_view in, std::size_t rows)
        : name(called), type(of), unit(in), values(rows) {}

    std::string_view name;
    ColumnType type;
    std::string_view unit;
    std::vector<T> values;
    T& operator[](std::size_t row) { return values[row]; }
    ColumnView view() const { return {name, type, unit, values.data(), nullptr}; }
};

std::string payload(std::string_view table, std::size_t first, std::size_t rows, const StringPool& strings,
                    const std::vector<ColumnView>& columns, EncodingGoal goal) {
    PayloadEncoder encoder(goal);
    encoder.encode({table, first + rows, columns}, strings, first, rows);
    return encoder.payload(nullptr);
}

template <class T>
ColumnView view_of(std::string_view name, ColumnType type, std::string_view unit, const Column<T>& column) {
    return {name, type, unit, column.raw(), column.validity(), column.width()};
}

// What the copies and fills of a chunk of events moved.
Column<std::int64_t> bytes_moved(const ViewParts& parts, const Blob& blob) {
    Column<std::int64_t> bytes;
    const Lane& lane = parts.scene.lanes[blob.of];
    auto slice = lane.slices.at(blob.first);
    for (Row i = 0; i < static_cast<Row>(blob.count); ++i, ++slice)
        if (auto known = bytes_of(parts.trace.tables(), lane.table, (*slice).row)) bytes.set(i, *known);
    bytes.pad(blob.count);
    return bytes;
}

// `item`: iterator of the first of them; `bytes`: of the events themselves.
template <class Item>
std::string encode_slices(Item item, const Blob& blob, const StringPool& strings, EncodingGoal goal,
                          const Column<std::int64_t>& bytes = {}) {
    constexpr bool kMerged = requires { item->busy; };
    const std::size_t rows = blob.count;
    ColumnBuffer<std::int64_t> start{"start", ColumnType::Time, "ns", rows}, dur{"dur", ColumnType::Dur, "ns", rows},
        row{"row", ColumnType::I64, "", rows}, count{"count", ColumnType::I64, "count", kMerged ? rows : 0},
        busy{"busy", ColumnType::Dur, "ns", kMerged ? rows : 0};
    ColumnBuffer<StringId> name{"name", ColumnType::Str, "", rows};
    bool any_name = false, any_row = false;
    for (std::size_t i = 0; i < rows; ++i, ++item) {
        const auto& slice = *item;
        start[i] = slice.start;
        dur[i] = slice.dur;
        name[i] = slice.name;
        row[i] = slice.row;
        any_name |= slice.name != kNoString;
        any_row |= slice.row != kNoRow;
        if constexpr (kMerged) {
            count[i] = slice.count;
            busy[i] = slice.busy;
        }
    }
    std::vector<ColumnView> columns{start.view(), dur.view()};
    if (any_name) columns.push_back(name.view());
    if (any_row) columns.push_back(row.view());
    if (kMerged) {
        columns.push_back(count.view());
        columns.push_back(busy.view());
    }
    if (!bytes.none_present()) columns.push_back(view_of("bytes", ColumnType::I64, "bytes", bytes));
    return payload("slice", 0, rows, strings, columns, goal);
}

std::string encode_values(const PodVector<Value>& items, const Blob& blob, const StringPool& strings,
                          EncodingGoal goal) {
    ColumnBuffer<std::int64_t> time{"time", ColumnType::Time, "ns", blob.count};
    ColumnBuffer<double> value{"value", ColumnType::F64, "", blob.count};
    for (std::size_t i = 0; i < blob.count; ++i) {
        time[i] = items[blob.first + i].time;
        value[i] = items[blob.first + i].value;
    }
    return payload("value", 0, blob.count, strings, {time.view(), value.view()}, goal);
}

std::string encode_values(const PodVector<MergedValue>& items, const Blob& blob, const StringPool& strings,
                          EncodingGoal goal) {
    const std::size_t rows = blob.count;
    ColumnBuffer<std::int64_t> time{"time", ColumnType::Time, "ns", rows},
        count{"count", ColumnType::I64, "count", rows};
    ColumnBuffer<double> mean{"value", ColumnType::F64, "", rows}, low{"low", ColumnType::F64, "", rows},
        high{"high", ColumnType::F64, "", rows};
    for (std::size_t i = 0; i < rows; ++i) {
        const MergedValue& merged = items[blob.first + i];
        time[i] = merged.time;
        mean[i] = merged.mean;
        low[i] = merged.low;
        high[i] = merged.high;
        count[i] = merged.count;
    }
    return payload("value", 0, rows, strings, {time.view(), mean.view(), low.view(), high.view(), count.view()}, goal);
}

// Calls encode(items, blob) with the items of a chunk of a level, made again if they are not kept.
template <class Events, class Merged, class Encode>
std::string encode_level(const Events& events, const Level<Merged>& level, const std::vector<Chunk>& chunks, Blob blob,
                         Encode&& encode) {
    if (level.items.size() > 0) return encode(level.items, blob);
    auto events_before = [&](std::size_t chunk) {
        return chunk < chunks.size() ? static_cast<std::size_t>(chunks[chunk].events_before) : events.size();
    };
    const std::size_t chunk = blob.first / kLaneRows, begin = events_before(chunk), end = events_before(chunk + 1);
    blob.first = 0;
    return encode(merged_items(events, begin, end, level.resolution), blob);
}

std::string encode_lane(const ViewParts& parts, const Blob& blob, EncodingGoal goal) {
    const Lane& lane = parts.scene.lanes[blob.of];
    const LaneParts& merged = parts.lanes[blob.of];
    auto slices = [&](const auto& items, const Blob& of) {
        return encode_slices(items.begin() + of.first, of, parts.strings, goal);
    };
    auto values = [&](const auto& items, const Blob& of) { return encode_values(items, of, parts.strings, goal); };
    if (lane.table == SliceTable::none && blob.level == 0) return values(lane.values, blob);
    if (blob.level > 0) {
        const std::vector<Chunk>& chunks = merged.chunks[blob.level];
        return lane.table == SliceTable::none
                   ? encode_level(lane.values, merged.values[blob.level - 1], chunks, blob, values)
                   : encode_level(lane.slices, merged.slices[blob.level - 1], chunks, blob, slices);
    }
    return encode_slices(lane.slices.at(blob.first), blob, parts.strings, goal, bytes_moved(parts, blob));
}

std::string encode_stacks(const ViewParts& parts, const Blob& blob, EncodingGoal goal) {
    const CallStacks& stacks = parts.stacks();
    Column<std::int64_t> frames;
    for (Row i = 0; i < static_cast<Row>(blob.count); ++i)
        if (std::uint32_t frame = stacks.frame(blob.of, blob.first + i); frame != kNoFrame) frames.set(i, frame);
    frames.pad(blob.count);
    return payload("stack", 0, blob.count, parts.strings, {view_of("frame", ColumnType::I64, "", frames)}, goal);
}

// What kernels of a class have in common for a reader; classes are finer, for advice.
std::string_view kind_of_work(const KernelTraits& traits) {
    constexpr std::string_view kGemm = "GEMM", kCopy = "copy", kElementwise = "elementwise", kReduction = "reduction",
                               kOther = "other";
    switch (traits.kind) {
        case KernelClass::gemm:
        case KernelClass::gemv:
        case KernelClass::convolution: return kGemm;
        case KernelClass::attention: return "attention";
        case KernelClass::collective: return "communication";
        case KernelClass::copy_cast:
        case KernelClass::layout:
        case KernelClass::memset_like:
        case KernelClass::embedding_index: return kCopy;
        case KernelClass::elementwise:
        case KernelClass::optimizer:
        case KernelClass::random: return kElementwise;
        case KernelClass::reduction:
        case KernelClass::normalization:
        case KernelClass::softmax:
        case KernelClass::pooling: return kReduction;
        case KernelClass::sort_scan:
        case KernelClass::other: return kOther;
        case KernelClass::triton: break;
    }
    switch (traits.triton_kind) {
        case TritonKind::pointwise:
        case TritonKind::foreach: return kElementwise;
        case TritonKind::reduction:
        case TritonKind::persistent_reduction: return kReduction;
        case TritonKind::matmul_template: return kGemm;
        case TritonKind::none:
        case TritonKind::other: break;
    }
    return kOther;
}

std::string encode_names(const ViewParts& parts, EncodingGoal goal) {
    StringPool strings;
    const std::size_t rows = parts.names.size();
    ColumnBuffer<StringId> table{"table", ColumnType::Str, "", rows}, name{"name", ColumnType::Str, "", rows},
        kind{"kind", ColumnType::Str, "", rows};
    ColumnBuffer<std::int64_t> count{"count", ColumnType::I64, "count", rows},
        total{"total", ColumnType::Dur, "ns", rows}, first{"first", ColumnType::Time, "ns", rows},
        last{"last", ColumnType::Time, "ns", rows};
    std::size_t row = 0;
    for (const auto& [key, sum] : parts.names) {
        table[row] = strings.intern(name_of(key.first));
        name[row] = strings.intern(parts.strings[key.second]);
        bool is_kernel = key.first == SliceTable::kernel;
        kind[row] = is_kernel ? strings.intern(kind_of_work(classify_kernel(parts.strings[key.second]))) : kNoString;
        count[row] = sum.count;
        total[row] = sum.total;
        first[row] = sum.first;
        last[row] = sum.last;
        ++row;
    }
    return payload("name", 0, rows, strings,
                   {table.view(), name.view(), kind.view(), count.view(), total.view(), first.view(), last.view()},
                   goal);
}

std::string encode_frames(const CallStacks& stacks, EncodingGoal goal) {
    Column<std::int64_t> parent;
    Column<StringId> table, name;
    StringPool strings;
    strings.merge(stacks.names);
    const Row rows = static_cast<Row>(stacks.frames.size());
    for (Row row = 0; row < rows; ++row) {
        const StackFrame& frame = stacks.frames[row];
        if (frame.parent != kNoFrame) parent.set(row, frame.parent);
        if (frame.table != SliceTable::none) table.set(row, strings.intern(name_of(frame.table)));
        name.set(row, frame.name);
    }
    parent.pad(rows);
    table.pad(rows);
    std::vector<ColumnView> columns;
    if (!parent.none_present()) columns.push_back(view_of("parent", ColumnType::I64, "", parent));
    if (!table.none_present()) columns.push_back(view_of("table", ColumnType::Str, "", table));
    columns.push_back(view_of("name", ColumnType::Str, "", name));
    return payload("frame", 0, rows, strings, columns, goal);
}

std::string encode_cuts(const ViewParts& parts, EncodingGoal goal) {
    const std::vector<StackCut>& cuts = parts.stacks().cuts;
    ColumnBuffer<std::int64_t> lane{"lane", ColumnType::I64, "", cuts.size()},
        row{"row", ColumnType::I64, "", cuts.size()}, time{"time", ColumnType::Time, "ns", cuts.size()},
        frame{"frame", ColumnType::I64, "", cuts.size()};
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        lane[i] = cuts[i].lane;
        row[i] = parts.scene.lanes[cuts[i].lane].slices[cuts[i].slice].row;
        time[i] = cuts[i].time;
        frame[i] = cuts[i].frame;
    }
    return payload("frame_cut", 0, cuts.size(), parts.strings, {lane.view(), row.view(), time.view(), frame.view()},
                   goal);
}

std::string encode_sums(const ViewParts& parts, EncodingGoal goal) {
    const ChunkSums& sums = parts.sums();
    std::vector<ColumnView> columns{
        view_of("chunk", ColumnType::I64, "", sums.chunk), view_of("frame", ColumnType::I64, "", sums.frame),
        view_of("count", ColumnType::I64, "count", sums.count), view_of("time", ColumnType::Dur, "ns", sums.time)};
    if (!sums.bytes.none_present()) columns.push_back(view_of("bytes", ColumnType::I64, "bytes", sums.bytes));
    return payload("chunk_sum", 0, sums.rows, parts.strings, columns, goal);
}

}  // namespace

std::string encode_blob(const ViewParts& parts, std::size_t id, EncodingGoal goal) {
    const Blob& blob = parts.blobs[id];
    switch (blob.kind) {
        case Blob::kLane: return encode_lane(parts, blob, goal);
        case Blob::kStacks: return encode_stacks(parts, blob, goal);
        case Blob::kTable: {
            const EventTable& table = parts.tables[blob.of];
            return payload(table.name, blob.first, blob.count, parts.strings, table.views, goal);
        }
        case Blob::kNames: return encode_names(parts, goal);
        case Blob::kFrames: return encode_frames(parts.stacks(), goal);
        case Blob::kCuts: return encode_cuts(parts, goal);
        case Blob::kSums: return encode_sums(parts, goal);
        case Blob::kReport: return parts.answer.report;
        case Blob::kKernel: return parts.answer.kernels.pages[blob.of];
        case Blob::kBusyShares: return parts.answer.busy_shares;
        case Blob::kJob: return parts.answer.job.about;
        case Blob::kCells: return parts.answer.job.cells[blob.of].payload(goal);
        case Blob::kStep: return parts.answer.job.steps[blob.of].bars;
        case Blob::kRows:
            return parts.long_rows->payload(parts.answer.long_tables[blob.of], blob.first, blob.count, goal);
    }
    return {};
}

}  // namespace gpuprof::view
