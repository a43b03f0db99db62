// Reads gpu-profile's capture files (docs/reference/capture-format.md). Reads whole chunks and counts everything
// between them; core/format/chunk_reader.h describes the effect of damage. Decodes on several threads; the result does
// not depend on their number.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/parallel.h"
#include "core/format/chunk_reader.h"
#include "core/format/table_chunk.h"
#include "core/model/build/trace_builder.h"
#include "core/schema/meta_keys.h"
#include "io/importers/formats.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/spool/spool_import.h"

namespace gpuprof::inline importers {
namespace {

// Puts the chunks of a capture into the tables of a Batch. place() is called in file order: it reserves space for a
// chunk's rows and interns its strings, so that the result does not depend on threads. fill() then decodes the values
// in place; calls for different chunks may run concurrently, but not with place(). Columns are matched by name:
// unknown ones are counted and skipped, missing ones are absent. drop_failed() finally removes the rows of damaged
// chunks.

// A column to fill: its source and its destination.
struct ColumnFill {
    std::size_t source;  // its index in the chunk
    std::variant<Column<std::int64_t>*, Column<std::int32_t>*, Column<double>*, Column<StringId>*> target;
    std::vector<StringId> ids;  // of the dictionary's entries, for strings
};

struct PlacedChunk {
    TableChunk chunk;
    std::string_view table;  // the schema's own name
    Row first = 0;
    std::uint64_t offset = 0;  // in the file
    std::vector<ColumnFill> fills;
};

// The working memory of one thread's fill().
struct FillScratch {
    Decompressor zstd;
    PodVector<char> values;
    PodVector<std::int64_t> column;
};

class CaptureTables {
public:
    CaptureTables(Batch& batch, std::string file) : batch_(batch), file_(std::move(file)) {}

    // Announces the file's row counts per table, where known, so that growing tables need not be moved.
    void expect(std::map<std::string, std::size_t, std::less<>> rows) { expected_ = std::move(rows); }
    // Reserves space for a chunk of kind `table`; absent if it cannot be used, which is counted. `raw` must outlive the
    // placed chunk.
    std::optional<PlacedChunk> place(const RawChunk& raw);
    // `packed`: false if a value needs more bytes than its column has; then widen(), and fill again.
    static bool fill(const PlacedChunk& placed, FillScratch& scratch, bool& packed);
    static void widen(const PlacedChunk& placed);
    // Records that fill() rejected `placed`.
    void fail(const PlacedChunk& placed);
    void drop_failed();
    // Rows placed so far, by table, including those of tables unknown to this version.
    const std::map<std::string, std::int64_t, std::less<>>& rows() const { return rows_; }

private:
    template <class Table>
    void place_rows(const TableSpec& spec, Table& table, PlacedChunk& placed);
    template <class Table>
    bool place_column(const TableSpec& spec, Table& table, PlacedChunk& placed, std::size_t source);
    std::string where(std::uint64_t offset) const;

    Batch& batch_;
    std::string file_;
    Decompressor zstd_;
    std::map<std::string, std::size_t, std::less<>> expected_;
    std::map<std::string, std::int64_t, std::less<>> rows_;
    std::set<std::string, std::less<>> unknown_columns_;
    std::vector<std::pair<std::string_view, std::pair<Row, std::size_t>>> failed_;  // table, first row, rows
};

template <class T>
bool readable_as(const ChunkColumn& column) {
    if (!column.known) return false;
    if (std::is_same_v<T, StringId>) return column.type == ColumnType::Str;
    if (std::is_same_v<T, double>) return column.type == ColumnType::F64;
    if (column.type == ColumnType::Str || column.type == ColumnType::F64) return false;
    return std::is_same_v<T, std::int64_t> || column.type == ColumnType::I32;
}

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
        if (spec.name != current_name(placed.chunk.table())) return;
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

// The value of all rows of a chunk, if they have one.
template <class T>
std::optional<T> only_value(const ChunkColumn& column, Batch& batch) {
    if (column.encoding != Encoding::constant || !column.validity.empty()) return {};
    if constexpr (std::is_same_v<T, double>)
        return {};
    else if constexpr (std::is_same_v<T, StringId>)
        return column.texts.size() == 1 ? std::optional<T>(batch.intern(column.texts[0])) : std::nullopt;
    else
        return static_cast<T>(column.base);
}

// How many bytes a packed value of the chunk takes: of differences it is a guess.
template <class T>
std::uint8_t packed_width(const ChunkColumn& column, const std::vector<StringId>& ids) {
    constexpr std::uint8_t kGuess = 4;
    auto of = [](std::int64_t value) { return Column<std::int64_t>::width_of(value); };
    std::uint8_t width = 1;
    if (column.type == ColumnType::Str)
        for (StringId id : ids) width = std::max(width, of(static_cast<std::int64_t>(id)));
    else if (column.encoding == Encoding::dictionary)
        for (std::int64_t number : column.numbers) width = std::max(width, of(number));
    else if (column.encoding == Encoding::constant)
        width = of(column.base);
    else if (column.encoding == Encoding::offset)
        width = column.width > 3 || column.base < 0 ? kGuess
                                                    : of(column.base + (std::int64_t{1} << (8 * column.width)) - 1);
    else
        width = kGuess;
    return std::min<std::uint8_t>(width, sizeof(T));
}

// False if the table has no such column, or the chunk already had it.
template <class Table>
bool CaptureTables::place_column(const TableSpec& table_spec, Table& table, PlacedChunk& placed, std::size_t source) {
    auto expected = expected_.find(table_spec.name);
    const ChunkColumn& from = placed.chunk.columns()[source];
    bool taken = false;
    table.each_column([&](const ColumnSpec& spec, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::value_type;
        if (spec.name != current_name(from.name) || !readable_as<T>(from) || column.size() > placed.first) return;
        taken = true;
        if (column.is_skipped()) return;
        column.pad(placed.first);
        if (std::optional<T> value = only_value<T>(from, batch_); value && column.repeats(*value))
            return column.repeat(*value, placed.chunk.rows());
        std::size_t rows = expected != expected_.end() ? expected->second : 0;
        const std::uint64_t* validity = from.validity.empty() ? nullptr : from.validity.data();
        ColumnFill fill{source, &column, {}};
        for (std::string_view text : from.texts) fill.ids.push_back(batch_.intern(text));
        // Times are read most, and need most of their bytes.
        if (std::is_same_v<T, double> || spec.type == ColumnType::Time) {
            column.reserve(rows);
            column.extend(validity, placed.chunk.rows());
        } else {
            column.extend_packed(validity, placed.chunk.rows(), packed_width<T>(from, fill.ids), rows);
        }
        placed.fills.push_back(std::move(fill));
    });
    return taken;
}

bool CaptureTables::fill(const PlacedChunk& placed, FillScratch& scratch, bool& packed) {
    const TableChunk& chunk = placed.chunk;
    scratch.values.resize(chunk.values_size());
    scratch.column.resize(chunk.rows());
    if (!chunk.read_values(scratch.values.data(), scratch.zstd)) return false;
    bool sound = true;
    auto decode = [&](const ColumnFill& fill, auto* out) {
        const ChunkColumn& column = chunk.columns()[fill.source];
        if constexpr (std::is_same_v<decltype(out), StringId*>)
            return decode_column(column, scratch.values.data(), chunk.rows(), fill.ids, out);
        else
            return decode_column(column, scratch.values.data(), chunk.rows(), out);
    };
    for (const ColumnFill& fill : placed.fills) {
        auto into = [&](auto* target) {
            using T = typename std::remove_pointer_t<decltype(target)>::value_type;
            if (target->width() == 0) return decode(fill, target->mutable_values() + placed.first);
            T* values = reinterpret_cast<T*>(scratch.column.data());
            if (!decode(fill, values)) return false;
            if (!target->write_packed(placed.first, values, chunk.rows())) packed = false;
            return true;
        };
        sound = sound && std::visit(into, fill.target);
    }
    return sound;
}

void CaptureTables::widen(const PlacedChunk& placed) {
    for (const ColumnFill& fill : placed.fills)
        if (Encoding encoding = placed.chunk.columns()[fill.source].encoding;
            encoding != Encoding::dictionary && encoding != Encoding::constant)
            std::visit([](auto* target) { target->mutable_values(); }, fill.target);
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

// Chunks are read and decoded in groups of about this many stored bytes; one group is read while another is decoded.
constexpr std::size_t kGroupBytes = std::size_t{8} << 20;
constexpr std::size_t kGroupChunks = 512;

class SourceInput final : public ByteInput {
public:
    explicit SourceInput(Source& source) : source_(source) {}
    Result<std::size_t> read(char* into, std::size_t size) override { return source_.read(into, size); }

private:
    Source& source_;
};

// Number of rows of each table by the chunks' preambles, without reading the chunks, up to the first invalid place. The
// count never exceeds the file's size in bytes: recordings need several bytes per row, and a hostile file's claims must
// cost nothing.
std::map<std::string, std::size_t, std::less<>> expected_rows(int fd, std::uint64_t size) {
    std::map<std::string, std::size_t, std::less<>> rows;
    char bytes[kChunkHeaderBytes + 128];
    for (std::uint64_t at = 0; at < size;) {
        ssize_t got = ::pread(fd, bytes, sizeof bytes, static_cast<off_t>(at));
        std::string_view head(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
        std::optional<ChunkHeader> header = decode_header(head);
        if (!header) break;
        std::string_view payload = head.substr(kChunkHeaderBytes, header->length);
        ChunkPreamble preamble;
        if (header->is(ChunkKind::table) && read_preamble(payload, header->length, preamble)) {
            std::size_t& known = rows[std::string(preamble.table)];
            known = std::min<std::uint64_t>(known + preamble.rows, size);
        }
        at += kChunkHeaderBytes + header->length;
    }
    return rows;
}

// A killed process leaves whole chunks without an end chunk; its file was not truncated.
Loss loss_of(const ChunkReader::Gap& gap) {
    switch (gap.kind) {
        case ChunkReader::Gap::damaged: return Loss::damaged_chunk;
        case ChunkReader::Gap::cut: return Loss::truncated;
        case ChunkReader::Gap::unended: break;
    }
    return SpoolDecoder::takes(gap.after) ? Loss::killed_process : Loss::truncated;
}

struct Group {
    std::deque<RawChunk> chunks;  // a deque, because placed chunks point into it
    Status status;
};

class CaptureImport {
public:
    CaptureImport(Source& source, TraceBuilder& builder, CodeFiles code)
        : source_(source),
          builder_(builder),
          input_(source),
          reader_(input_),
          tables_(batch_, source.name()),
          code_(code) {
        skip_unselected(batch_.tables, builder.selected());
    }

    Status run() {
        for (unsigned worker = 0; worker < default_threads(); ++worker)
            scratch_.push_back(std::make_unique<FillScratch>());
        if (source_.plain_fd() >= 0) tables_.expect(expected_rows(source_.plain_fd(), source_.plain_size()));
        Group group;
        read(group);
        while (!group.chunks.empty()) {
            Group next;
            if (Status fits = decode(group, next); !fits) return fits;
            group = std::move(next);
        }
        if (!group.status) return group.status;
        if (reader_.offset() == 0) batch_.lose(Loss::killed_process, fmt::format("{}: empty", source_.name()));
        finish();
        return {};
    }

private:
    void read(Group& group) {
        std::size_t bytes = 0;
        while (bytes < kGroupBytes && group.chunks.size() < kGroupChunks) {
            RawChunk chunk;
            Result<bool> more = reader_.next(chunk);
            if (!more) group.status = more.error();
            if (!more || !*more) return;
            bytes += chunk.payload.size();
            group.chunks.push_back(std::move(chunk));
        }
    }

    // Decodes `group` while reading `next`.
    Status decode(const Group& group, Group& next) {
        std::vector<PlacedChunk> placed;
        MemoryLimit limit(source_);
        for (const RawChunk& raw : group.chunks) {
            place(raw, placed);
            if (limit.is_below(bytes_of(batch_))) return limit.error();
        }
        std::vector<char> sound(placed.size(), 1), packed(placed.size(), 1);
        auto fill = [&](std::size_t i, unsigned worker) {
            bool fits = true;
            sound[i] = CaptureTables::fill(placed[i], *scratch_[worker], fits);
            packed[i] = fits;
        };
        run_parallel(placed.size() + 1, static_cast<unsigned>(scratch_.size()), [&](std::size_t task, unsigned worker) {
            if (task == 0)
                read(next);
            else
                fill(task - 1, worker);
        });
        for (std::size_t i = 0; i < placed.size(); ++i) {
            if (sound[i] && !packed[i]) {
                CaptureTables::widen(placed[i]);
                fill(i, 0);
            }
            if (!sound[i]) tables_.fail(placed[i]);
        }
        return {};
    }

    void place(const RawChunk& raw, std::vector<PlacedChunk>& placed) {
        if (raw.header.is(ChunkKind::begin) || raw.header.is(ChunkKind::end)) return;
        if (SpoolDecoder::takes(raw.header)) {
            bool begins = raw.header.is(ChunkKind::spool_process);
            if (begins && !(spool_ && spool_->is_continued_by(raw.bytes()))) end_spool();
            if (!spool_) spool_ = std::make_unique<SpoolDecoder>(batch_, source_.name(), code_);
            spool_->take(raw);
            return;
        }
        if (!raw.header.is(ChunkKind::table)) {
            batch_.lose(Loss::unknown_chunk,
                        fmt::format("{}: byte {}: kind {}", source_.name(), raw.offset, raw.header.kind));
            return;
        }
        end_spool();  // its rows end here: those of the table are filled later
        if (std::optional<PlacedChunk> chunk = tables_.place(raw)) placed.push_back(std::move(*chunk));
    }

    void end_spool() {
        if (spool_) spool_->finish();
        spool_.reset();
    }

    void finish() {
        end_spool();
        for (const ChunkReader::Gap& gap : reader_.gaps())
            batch_.lose(loss_of(gap), fmt::format("{}: byte {}", source_.name(), gap.offset), gap.chunks);
        if (source_.damaged()) batch_.lose(Loss::bad_compression, source_.name());
        tables_.drop_failed();
        batch_.tables.close();
        const MetaTable& meta = batch_.tables.meta;
        for (Row row = 0; row < meta.rows; ++row)
            if (meta.key.has(row) && meta.value.has(row) && batch_.strings[meta.key[row]] == meta_key::kTool) {
                builder_.set_tool(std::string(batch_.strings[meta.value[row]]));
                break;
            }
        builder_.append(std::move(batch_));
    }

    Source& source_;
    TraceBuilder& builder_;
    SourceInput input_;
    ChunkReader reader_;
    Batch batch_;
    CaptureTables tables_;
    CodeFiles code_;
    std::vector<std::unique_ptr<FillScratch>> scratch_;
    std::unique_ptr<SpoolDecoder> spool_;  // of the process whose raw chunks are being read
};

}  // namespace

int sniff_capture(std::string_view head) {
    if (head.substr(0, kChunkMagic.size()) == kChunkMagic) return 100;
    // The first header may be the damaged one.
    for (std::size_t at = head.find(kChunkMagic); at != std::string_view::npos; at = head.find(kChunkMagic, at + 1))
        if (decode_header(head.substr(at))) return 90;
    return 0;
}

Status import_capture(Source& source, TraceBuilder& builder) {
    return CaptureImport(source, builder, CodeFiles::closed).run();
}
Status import_own_capture(Source& source, TraceBuilder& builder) {
    return CaptureImport(source, builder, CodeFiles::open).run();
}

}  // namespace gpuprof::importers
