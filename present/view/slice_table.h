// The tables whose rows are drawn as slices, declared once, with the default name of their slices. From this
// declaration rows are collected, named, listed with their fields and looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/model/tables.h"

namespace gpuprof::inline view {

// In nesting order for equal spans of a thread, outermost first.
#define GPUPROF_SLICE_TABLES(TABLE)   \
    TABLE(kernel, "kernel")           \
    TABLE(memcpy, "copy")             \
    TABLE(memset, "fill")             \
    TABLE(range, "range")             \
    TABLE(op, "op")                   \
    TABLE(api_call, "api_call")       \
    TABLE(os_call, "os_call")         \
    TABLE(overhead, "overhead")       \
    TABLE(python_call, "python_call") \
    TABLE(device_range, "device_range")

#define GPUPROF_SLICE_TABLE_VALUE(table, label) table,
enum class SliceTable : std::uint8_t {
    GPUPROF_SLICE_TABLES(GPUPROF_SLICE_TABLE_VALUE) gap,  // this and the next three are computed, not tables of a trace
    busy,
    thread_state,
    critical_path,
    none
};
#undef GPUPROF_SLICE_TABLE_VALUE
inline constexpr std::size_t kSliceTables = static_cast<std::size_t>(SliceTable::none);

std::string_view name_of(SliceTable table);
// Whether its slices are times without rows.
constexpr bool is_times_only(SliceTable table) {
    return table == SliceTable::busy || table == SliceTable::thread_state || table == SliceTable::critical_path;
}
// The name of a slice without a name in the trace.
std::string_view label_of(SliceTable table);

// Calls visit(which, table) for each slice table of the trace.
template <class Visit>
void each_slice_table(const Tables& tables, Visit&& visit) {
#define GPUPROF_VISIT_SLICE_TABLE(table, label) visit(SliceTable::table, tables.table);
    GPUPROF_SLICE_TABLES(GPUPROF_VISIT_SLICE_TABLE)
#undef GPUPROF_VISIT_SLICE_TABLE
}

// The name of a row; kNoString if it has none.
template <class Table>
StringId name_in(const Table& table, Row row) {
    if constexpr (requires { table.name; })
        return table.name.value_or(row, kNoString);
    else if constexpr (std::is_same_v<Table, MemcpyTable>)
        return table.kind.value_or(row, kNoString);
    else
        return kNoString;
}

}  // namespace gpuprof::view
