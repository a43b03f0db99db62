// Values as tools write them: what means "unknown" in a file is absent from the row, and a row that has a value keeps it, because a
// file may tell one twice. Not inline, because the readers of foreign files call these hundreds of times.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>

#include "core/model/build/batch.h"

namespace gpuprof::inline importers {

// The number that a text is, the whole of it; a real one is finite.
template <class Number, class... Base>
[[gnu::noinline]] std::optional<Number> number_in(std::string_view text, Base... base) {
    Number value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(value)) return std::nullopt;
    return value;
}

template <class T>
[[gnu::noinline]] void set_known(Column<T>& column, Row row, std::optional<T> value) {
    if (value && row >= column.size()) column.set(row, *value);
}

// 0 means none.
inline void set_id(Column<std::int64_t>& column, Row row, std::optional<std::int64_t> id) {
    set_known(column, row, id == 0 ? std::nullopt : id);
}

// Of bytes and other things that cannot be negative.
[[gnu::noinline]] inline void set_count(Column<std::int64_t>& column, Row row, std::optional<std::int64_t> count) {
    if (count && *count >= 0) set_known(column, row, count);
}

// Numbers of devices and streams, sizes of launches.
template <class T>
[[gnu::noinline]] void set_small(Column<T>& column, Row row, std::optional<std::int64_t> number) {
    if (number && *number >= 0 && *number <= INT32_MAX)
        set_known(column, row, std::optional<T>(static_cast<T>(*number)));
}

inline void set_known(Column<StringId>& column, Row row, StringId text) {
    if (text != kNoString) set_known(column, row, std::optional<StringId>(text));
}

[[gnu::noinline]] inline void set_text(Batch& batch, Column<StringId>& column, Row row, std::string_view text) {
    if (!text.empty()) set_known(column, row, std::optional<StringId>(batch.intern(text)));
}

[[gnu::noinline]] inline void add_call_metric(Batch& batch, std::int64_t node, std::string_view metric,
                                              std::string_view unit, double value) {
    CallMetricTable& table = batch.tables.call_metric;
    Row row = table.add();
    table.node.set(row, node);
    table.metric.set(row, batch.intern(metric));
    set_text(batch, table.unit, row, unit);
    table.value.set(row, value);
}

template <class Table>
[[gnu::noinline]] Row add_span(Table& table, TimeNs start, DurNs dur) {
    Row row = table.add();
    table.start.set(row, start);
    table.dur.set(row, dur);
    return row;
}

// What kernels, copies and fills have in common.
struct DeviceWork {
    StringId process = kNoString;
    std::optional<std::int32_t> device, context;
    std::optional<std::int64_t> stream, correlation, graph, graph_node;
};
template <class Table>
[[gnu::noinline]] void set_work(Table& table, Row row, const DeviceWork& work) {
    set_known(table.process, row, work.process);
    set_known(table.device, row, work.device);
    set_known(table.context, row, work.context);
    set_known(table.stream, row, work.stream);
    set_id(table.correlation, row, work.correlation);
    set_id(table.graph_id, row, work.graph);
    set_id(table.graph_node_id, row, work.graph_node);
}

// The columns of a launch, by dimension.
struct ShapeColumns {
    explicit ShapeColumns(KernelTable& table)
        : grid{&table.grid_x, &table.grid_y, &table.grid_z}, block{&table.block_x, &table.block_y, &table.block_z} {}
    Column<std::int32_t>*const grid[3], *const block[3];
};

// The row of a GPU, unless it is known.
[[gnu::noinline]] inline void add_device(Batch& batch, std::set<std::int32_t>& known, std::int32_t device,
                                         std::string_view vendor, std::string_view name = {}) {
    if (!known.insert(device).second) return;
    DeviceTable& table = batch.tables.device;
    Row row = table.add();
    table.device.set(row, device);
    set_text(batch, table.vendor, row, vendor);
    set_text(batch, table.name, row, name);
}

}  // namespace gpuprof::importers
