#include "core/schema/schema.h"

#include <cstdlib>
#include <utility>

#include "core/schema/tables.def"

namespace gpuprof::inline schema {
namespace {

// The third word of a column is its unit or, for texts only, its privacy.
consteval ColumnSpec column(std::string_view name, ColumnType type, Unit unit, std::string_view doc) {
    return type == ColumnType::Str ? throw "a text column needs its privacy" : ColumnSpec{name, type, unit, doc};
}
consteval ColumnSpec column(std::string_view name, ColumnType type, Privacy privacy, std::string_view doc) {
    return type == ColumnType::Str ? ColumnSpec{name, type, Unit::none, doc, privacy} : throw "a number needs a unit";
}

using enum Unit;
using enum Privacy;
#define GPUPROF_SPEC(name, type, unit_or_privacy, doc) column(#name, ColumnType::type, unit_or_privacy, doc),
#define GPUPROF_SPECS(name, type, doc) \
    constexpr ColumnSpec k_##name##_columns[] = {GPUPROF_COLUMNS_##name(GPUPROF_SPEC)};
GPUPROF_TABLES(GPUPROF_SPECS)

#define GPUPROF_TABLE_SPEC(name, type, doc) {#name, doc, k_##name##_columns},
constexpr TableSpec kTables[] = {GPUPROF_TABLES(GPUPROF_TABLE_SPEC)};

}  // namespace

std::span<const TableSpec> table_specs() { return kTables; }

const TableSpec& table_spec(std::string_view name) {
    for (const TableSpec& spec : kTables)
        if (spec.name == name) return spec;
    std::abort();
}

std::string_view current_name(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
        {"rank_sync", "rank_collective"}, {"beside_ns", "overlapped_compute_ns"},  // language: quoted
    };
    for (auto [old, current] : kRenamed)
        if (name == old) return current;
    return name;
}

std::string_view name_of(ColumnType type) {
    switch (type) {
        case ColumnType::Time: return "time";
        case ColumnType::Dur: return "dur";
        case ColumnType::I64: return "i64";
        case ColumnType::I32: return "i32";
        case ColumnType::F64: return "f64";
        case ColumnType::Str: return "str";
    }
    return "";
}

}  // namespace gpuprof::schema
