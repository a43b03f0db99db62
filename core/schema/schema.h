// What tables.def declares, as plain values that a program can iterate: for the reference page, the capture file and
// every generic reader and writer. Storage is in core/model/tables.h.
#pragma once

#include <span>
#include <string_view>

#include "core/schema/privacy.h"
#include "core/schema/unit.h"

namespace gpuprof::inline schema {

// How a column is stored; Time and Dur are int64 nanoseconds.
enum class ColumnType { Time, Dur, I64, I32, F64, Str };

// "time", "dur", "i64", "i32", "f64", "str".
std::string_view name_of(ColumnType type);

struct ColumnSpec {
    std::string_view name;
    ColumnType type;
    Unit unit;  // Unit::none for texts
    std::string_view doc;
    Privacy privacy = Privacy::term;  // texts only
};

struct TableSpec {
    std::string_view name;
    std::string_view doc;
    std::span<const ColumnSpec> columns;
};

// All tables, in the order of tables.def.
std::span<const TableSpec> table_specs();
// The table with a name that tables.def declares; aborts for any other name.
const TableSpec& table_spec(std::string_view name);

// The present name of a table or column, for a name in a capture. Names of 0.1.0 development versions are read until 0.2.
std::string_view current_name(std::string_view name);

}  // namespace gpuprof::schema
