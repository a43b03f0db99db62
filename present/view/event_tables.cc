#include "present/view/event_tables.h"

#include <unordered_map>

#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/graph_origins.h"
#include "analyze/facts/idle/gaps.h"
#include "io/exporters/column_views.h"

namespace gpuprof::inline view {
namespace {

constexpr ColumnSpec kLane{"lane", ColumnType::I32, Unit::none, "Index of the lane that shows it."};
constexpr ColumnSpec kLaunch{"launch", ColumnType::I64, Unit::none, "Row in api_call of the call that submitted it."};
constexpr ColumnSpec kCapturedIn{"captured_in", ColumnType::Str, Unit::none,
                                 "Operator, module, line and range in which its node of a CUDA graph was captured."};
constexpr ColumnSpec kWorkTable{"work_table", ColumnType::Str, Unit::none, "Table of the first work it submitted."};
constexpr ColumnSpec kWorkRow{"work_row", ColumnType::I64, Unit::none, "Row of the first work it submitted."};
constexpr ColumnSpec kWorkCount{"work_count", ColumnType::I64, Unit::count, "Device ops it submitted."};

template <class T>
Column<T>& own(std::vector<std::unique_ptr<Column<T>>>& columns) {
    return *columns.emplace_back(std::make_unique<Column<T>>());
}

template <class T>
void show(EventTable& table, const ColumnSpec& spec, const Column<T>& column) {
    if (column.none_present()) return;
    table.columns.push_back(spec);
    table.views.push_back({spec.name, spec.type, name_of(spec.unit), column.raw(), column.validity(), column.width()});
}

// A column of the table's own.
template <class T>
void show_own(EventTable& table, const ColumnSpec& spec, Column<T>& column) {
    column.pad(table.rows);
    column.narrow();
    show(table, spec, column);
}

void show_launches(EventTable& table, const PodVector<Row>& launches) {
    Column<std::int64_t>& launch = own(table.own_i64);
    for (Row row = 0; row < launches.size(); ++row)
        if (launches[row] != kNoRow) launch.set(row, launches[row]);
    show_own(table, kLaunch, launch);
}

// Where kernels of CUDA graphs were captured, as in the analysis `graph_nodes`.
void show_captures(EventTable& table, const Facts& facts, StringPool& strings) {
    const GraphOrigins& origins = facts.get<GraphOrigins>();
    if (!origins.any()) return;
    std::unordered_map<Row, StringId> places;  // by origin
    Column<StringId>& column = own(table.own_texts);
    for (Row row = 0; row < table.rows; ++row) {
        Row origin = origins.of_kernel(facts.trace(), row);
        if (origin == kNoRow) continue;
        auto [place, is_new] = places.try_emplace(origin, kNoString);
        if (is_new)
            if (std::string text = facts.get<CodePlaces>().of_graph_node(facts, origin); !text.empty())
                place->second = strings.intern(text);
        if (place->second != kNoString) column.set(row, place->second);
    }
    show_own(table, kCapturedIn, column);
}

// The inverse of launches: for each call, its first device op and their number.
void show_work(EventTable& table, const Trace& trace, StringPool& strings) {
    struct Work {
        std::int64_t count = 0;
        Row row = kNoRow;
        SliceTable table = SliceTable::none;
        TimeNs start = 0;
    };
    std::vector<Work> work(table.rows);
    auto note = [&](SliceTable which, const auto& ops, const PodVector<Row>& launches) {
        for (Row row = 0; row < launches.size(); ++row) {
            if (launches[row] == kNoRow) continue;
            Work& of_call = work[launches[row]];
            if (of_call.count++ == 0 || ops.start[row] < of_call.start) {
                of_call.row = row;
                of_call.table = which;
                of_call.start = ops.start[row];
            }
        }
    };
    note(SliceTable::kernel, trace.kernel(), trace.links().kernel_launch);
    note(SliceTable::memcpy, trace.memcpy(), trace.links().memcpy_launch);
    note(SliceTable::memset, trace.memset(), trace.links().memset_launch);
    Column<StringId>& tables = own(table.own_texts);
    Column<std::int64_t>&rows = own(table.own_i64), &counts = own(table.own_i64);
    for (Row row = 0; row < table.rows; ++row) {
        if (work[row].count == 0) continue;
        tables.set(row, strings.intern(name_of(work[row].table)));
        rows.set(row, work[row].row);
        counts.set(row, work[row].count);
    }
    show_own(table, kWorkTable, tables);
    show_own(table, kWorkRow, rows);
    show_own(table, kWorkCount, counts);
}

template <class Table>
EventTable recorded(const Table& rows, const Column<std::int32_t>& lane_of) {
    EventTable table{.name = Table::spec().name, .doc = Table::spec().doc, .rows = rows.rows};
    rows.each_column([&](const ColumnSpec& spec, const auto& column) { show(table, spec, column); });
    show(table, kLane, lane_of);
    return table;
}

StringId name_of_op(const Trace& trace, DeviceOp op, Row row, StringPool& strings) {
    switch (op) {
        case DeviceOp::kernel: return trace.kernel().name.value_or(row, kNoString);
        case DeviceOp::memcpy: return strings.intern("memcpy");
        case DeviceOp::memset: return strings.intern("memset");
        case DeviceOp::none: break;
    }
    return kNoString;
}

EventTable gap_table(const Facts& facts, StringPool& strings) {
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    EventTable table{.name = name_of(SliceTable::gap), .doc = "One idle interval of a device.", .rows = gaps.size()};
    Column<std::int32_t>& device = own(table.own_i32);
    Column<std::int64_t>&start = own(table.own_i64), &dur = own(table.own_i64);
    std::array<Column<StringId>*, 5> texts;
    for (Column<StringId>*& each : texts) each = &own(table.own_texts);
    for (Row row = 0; row < gaps.size(); ++row) {
        const IdleGap& gap = gaps[row];
        device.set(row, gap.device);
        start.set(row, gap.start);
        dur.set(row, gap.dur);
        StringId what = gap.recording ? strings.intern(name_of(IdleCause::profiler)) : gap.host_what;
        StringId values[] = {strings.intern(name_of(gap.cause)), gap.host_thread, what,
                             name_of_op(facts.trace(), gap.before_op, gap.before, strings),
                             name_of_op(facts.trace(), gap.after_op, gap.after, strings)};
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (values[i] != kNoString) texts[i]->set(row, values[i]);
    }
    show_own(table, {"start", ColumnType::Time, Unit::ns, "Start."}, start);
    show_own(table, {"dur", ColumnType::Dur, Unit::ns, "Duration."}, dur);
    show_own(table, {"device", ColumnType::I32, Unit::none, "Device ordinal."}, device);
    constexpr std::pair<const char*, const char*> kTexts[] = {
        {"cause", "Cause of the largest part of the gap."},
        {"host_thread", "Key of the thread that explains the gap."},
        {"host_what", "Activity of that thread: the range, operator or call that determines the cause, or `profiler`."},
        {"before", "Device op that ended at the start of the gap."},
        {"after", "Device op that ended the gap."}};
    for (std::size_t i = 0; i < texts.size(); ++i)
        show_own(table, {kTexts[i].first, ColumnType::Str, Unit::none, kTexts[i].second}, *texts[i]);
    return table;
}

}  // namespace

std::vector<EventTable> event_tables(const Facts& facts, const Scene& scene, StringPool& strings) {
    const Trace& trace = facts.trace();
    const Tables& tables = trace.tables();
    std::vector<EventTable> all;
    each_slice_table(tables, [&](SliceTable which, const auto& rows) {
        EventTable table = recorded(rows, scene.lane_of[static_cast<std::size_t>(which)]);
        if (which == SliceTable::kernel) {
            show_launches(table, trace.links().kernel_launch);
            show_captures(table, facts, strings);
        }
        if (which == SliceTable::memcpy) show_launches(table, trace.links().memcpy_launch);
        if (which == SliceTable::memset) show_launches(table, trace.links().memset_launch);
        if (which == SliceTable::api_call) show_work(table, trace, strings);
        all.push_back(std::move(table));
    });
    all.push_back(gap_table(facts, strings));
    std::erase_if(all, [](const EventTable& table) { return table.rows == 0; });
    return all;
}

}  // namespace gpuprof::view
