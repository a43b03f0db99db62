// The tables whose rows are drawn as slices, declared once: what a slice without a name is called, and from this line how a row is gathered,
// named, listed with its fields and found again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/model/tables.h"

namespace gpuprof {

// In the order in which equal spans of a thread enclose each other.
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
    GPUPROF_SLICE_TABLES(GPUPROF_SLICE_TABLE_VALUE) gap,  // computed, no table of a trace; as are the next
    busy,
    none
};
#undef GPUPROF_SLICE_TABLE_VALUE
inline constexpr std::size_t kSliceTables = static_cast<std::size_t>(SliceTable::none);

std::string_view name_of(SliceTable table);
// What a slice without a name is called.
std::string_view label_of(SliceTable table);

// Calls visit(which, table) for each of them.
template <class Visit>
void each_slice_table(const Tables& tables, Visit&& visit) {
#define GPUPROF_VISIT_SLICE_TABLE(table, label) visit(SliceTable::table, tables.table);
    GPUPROF_SLICE_TABLES(GPUPROF_VISIT_SLICE_TABLE)
#undef GPUPROF_VISIT_SLICE_TABLE
}

// What a row is called; kNoString where it has no name.
template <class Table>
StringId name_in(const Table& table, Row row) {
    if constexpr (requires { table.name; })
        return table.name.value_or(row, kNoString);
    else if constexpr (std::is_same_v<Table, MemcpyTable>)
        return table.kind.value_or(row, kNoString);
    else
        return kNoString;
}

}  // namespace gpuprof
