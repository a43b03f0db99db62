#include "io/importers/capture_tables.h"

#include <fmt/format.h>

#include <type_traits>

namespace gpuprof::inline importers {
namespace {

template <class T>
bool readable_as(const ChunkColumn& column) {
    if (!column.known) return false;
    if (std::is_same_v<T, StringId>) return column.type == ColumnType::Str;
    if (std::is_same_v<T, double>) return column.type == ColumnType::F64;
    if (column.type == ColumnType::Str || column.type == ColumnType::F64) return false;
    return std::is_same_v<T, std::int64_t> || column.type == ColumnType::I32;
}

}  // namespace

std::string CaptureTables::where(std::uint64_t offset) const { return fmt::format("{}: byte {}", file_, offset); }

std::optional<PlacedChunk> CaptureTables::place(const RawChunk& raw) {
    std::optional<TableChunk> chunk = TableChunk::read(raw.bytes(), zstd_);
    if (!chunk) {
        batch_.lose(Loss::damaged_chunk, where(raw.offset));
        return {};
    }
    PlacedChunk placed{std::move(*chunk), {}, 0, raw.offset, {}};
    bool known = false, room = false;
    batch_.tables.each_table([&](const TableSpec& spec, auto& table) {
        if (spec.name != placed.chunk.table()) return;
        known = true;
        room = table.rows + placed.chunk.rows() < kNoRow;
        if (room) place_rows(spec, table, placed);
    });
    if (!known || room) rows_[std::string(placed.chunk.table())] += static_cast<std::int64_t>(placed.chunk.rows());
    if (!known)
        batch_.lose(Loss::unknown_chunk, fmt::format("{}: table {}", where(raw.offset), placed.chunk.table()));
    else if (!room)
        batch_.lose(Loss::damaged_chunk, fmt::format("{}: more rows than a table can hold", where(raw.offset)));
    if (!known || !room) return {};
    return placed;
}

template <class Table>
void CaptureTables::place_rows(const TableSpec& spec, Table& table, PlacedChunk& placed) {
    placed.table = spec.name;
    placed.first = static_cast<Row>(table.rows);
    table.rows += placed.chunk.rows();
    for (std::size_t source = 0; source < placed.chunk.columns().size(); ++source) {
        if (place_column(spec, table, placed, source)) continue;
        std::string name = fmt::format("{}.{}", spec.name, placed.chunk.columns()[source].name);
        if (unknown_columns_.insert(name).second)
            batch_.lose(Loss::unknown_column, fmt::format("{}: column {}", where(placed.offset), name));
    }
}

// False if the table has no such column, or the chunk already had it.
template <class Table>
bool CaptureTables::place_column(const TableSpec& table_spec, Table& table, PlacedChunk& placed, std::size_t source) {
    auto expected = expected_.find(table_spec.name);
    const ChunkColumn& from = placed.chunk.columns()[source];
    bool taken = false;
    table.each_column([&](const ColumnSpec& spec, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::value_type;
        if (spec.name != from.name || !readable_as<T>(from) || column.size() > placed.first) return;
        taken = true;
        if (column.is_skipped()) return;
        if (expected != expected_.end()) column.reserve(expected->second);
        column.pad(placed.first);
        column.extend(from.validity.empty() ? nullptr : from.validity.data(), placed.chunk.rows());
        ColumnFill fill{source, &column, {}};
        for (std::string_view text : from.texts) fill.ids.push_back(batch_.intern(text));
        placed.fills.push_back(std::move(fill));
    });
    return taken;
}

bool CaptureTables::fill(const PlacedChunk& placed, FillScratch& scratch) {
    const TableChunk& chunk = placed.chunk;
    scratch.values.resize(chunk.values_size());
    if (!chunk.read_values(scratch.values.data(), scratch.zstd)) return false;
    bool sound = true;
    for (const ColumnFill& fill : placed.fills) {
        const ChunkColumn& column = chunk.columns()[fill.source];
        sound = sound && std::visit(
                             [&](auto* target) {
                                 auto* out = target->mutable_values() + placed.first;
                                 if constexpr (std::is_same_v<decltype(out), StringId*>)
                                     return decode_column(column, scratch.values.data(), chunk.rows(), fill.ids, out);
                                 else
                                     return decode_column(column, scratch.values.data(), chunk.rows(), out);
                             },
                             fill.target);
    }
    return sound;
}

void CaptureTables::fail(const PlacedChunk& placed) {
    batch_.lose(Loss::damaged_chunk, where(placed.offset));
    failed_.push_back({placed.table, {placed.first, placed.chunk.rows()}});
    rows_.find(placed.table)->second -= static_cast<std::int64_t>(placed.chunk.rows());
}

void CaptureTables::drop_failed() {
    if (failed_.empty()) return;
    batch_.tables.close();
    batch_.tables.each_table([&](const TableSpec& spec, auto& table) {
        std::vector<bool> dropped(table.rows, false);
        for (const auto& [name, rows] : failed_)
            for (std::size_t row = 0; row < rows.second && name == spec.name; ++row) dropped[rows.first + row] = true;
        PodVector<Row> kept;
        for (Row row = 0; row < table.rows; ++row)
            if (!dropped[row]) kept.push_back(row);
        if (kept.size() == table.rows) return;
        table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
        table.rows = kept.size();
    });
}

}  // namespace gpuprof::importers
