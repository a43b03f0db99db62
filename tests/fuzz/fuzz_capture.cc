// Fuzz target of the capture reader and writer. The first byte chooses what the others are: a file as it is (even), the payloads of
// tables (1 mod 4), or chunks of every kind, in any order (3 mod 4; chunks.h). Any bytes give a trace and losses; memory stays
// in proportion to them; and what was read, written again and read again, is the same.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/format/chunk.h"
#include "io/exporters/exporter.h"
#include "io/importers/formats.h"
#include "io/importers/source/source.h"
#include "tests/fuzz/fuzz_chunks.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

// Two bytes of length before each payload; the first is the beginning of a part, the others are tables.
std::string with_headers(std::string_view rest) {
    std::string file;
    std::uint32_t sequence = 0;
    for (Choices choices(rest); !choices.empty(); ++sequence) {
        std::string_view payload = choices.take(choices.two_bytes());
        file += encode_header(sequence == 0 ? ChunkKind::begin : ChunkKind::table, sequence, payload);
        file += payload;
    }
    return file;
}

Trace import_bytes(std::string_view bytes) {
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", bytes);
    if (!source) return TraceBuilder(Origin{}).finish();
    TraceBuilder builder(Origin{});
    promise(import_capture(**source, builder).ok(), "a capture is read as far as it is whole");
    return std::move(builder).finish();
}

// Every value of the tables a recording consists of; what is said about losses and the file itself may differ.
std::string dump(const Trace& trace, std::size_t& bytes) {
    std::string text;
    auto out = std::back_inserter(text);
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        if (spec.name == "loss" || spec.name == "meta") return;
        table.each_column([&](const ColumnSpec& column_spec, const auto& column) {
            using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
            bytes += column.bytes();
            fmt::format_to(out, "{}.{}:", spec.name, column_spec.name);
            for (Row row = 0; row < table.rows; ++row) {
                if (!column.has(row)) {
                    text += " -";
                } else if constexpr (std::is_same_v<Value, StringId>) {
                    fmt::format_to(out, " {}", trace.text(column[row]));
                } else {
                    fmt::format_to(out, " {}", column[row]);
                }
            }
            text += '\n';
        });
    });
    return text;
}

}  // namespace

void run_capture(std::string_view bytes) {
    Choices choices(bytes);
    std::uint32_t form = choices.byte() % 4u;
    std::string_view rest = choices.rest();
    std::string file = form == 3 ? chunks_of(rest) : form == 1 ? with_headers(rest) : std::string(rest);
    Trace trace = import_bytes(file);
    std::size_t memory = 0;
    std::string first = dump(trace, memory);
    promise(memory <= 1'000'000 + 2000 * file.size(), "memory in proportion to the file");

    StringSink sink;
    promise(export_capture(trace, sink).ok(), "what was read can be written");
    std::size_t ignored = 0;
    promise(dump(import_bytes(sink.text()), ignored) == first, "what was written is read again");
}

}  // namespace gpuprof::fuzz
