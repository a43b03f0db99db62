// libFuzzer target of the capture reader and writer. An even first byte: the rest is a file as it is. An odd one: the rest is
// cut into payloads (two bytes of length before each), which get headers with the right checksums, since no fuzzer
// guesses those; with 3 in its low bits they are chunks of a spool, each with a byte for its kind before it. Any bytes give a trace and losses; memory stays in proportion to them; and what was read, written
// again and read again, is the same.
//
//   build/fuzz/fuzz_capture -max_total_time=60 -max_len=20000 CORPUS_DIR
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/exporters/exporter.h"
#include "core/format/chunk.h"
#include "core/importers/capture.h"
#include "core/importers/source.h"

namespace {

using namespace gpuprof;

std::string with_headers(std::string_view rest) {
    std::string file;
    for (std::uint32_t sequence = 0; rest.size() >= 2; ++sequence) {
        std::size_t length = static_cast<std::uint8_t>(rest[0]) + 256u * static_cast<std::uint8_t>(rest[1]);
        std::string_view payload = rest.substr(2, length);
        rest.remove_prefix(2 + payload.size());
        file += encode_header(sequence == 0 ? ChunkKind::begin : ChunkKind::table, sequence, payload);
        file += payload;
    }
    return file;
}

std::string with_spool_headers(std::string_view rest) {
    std::string file;
    for (std::uint32_t sequence = 0; rest.size() >= 3; ++sequence) {
        auto kind = static_cast<std::uint32_t>(ChunkKind::spool_process) + static_cast<std::uint8_t>(rest[0]) % 7;
        std::size_t length = static_cast<std::uint8_t>(rest[1]) + 256u * static_cast<std::uint8_t>(rest[2]);
        std::string_view payload = rest.substr(3, length);
        rest.remove_prefix(3 + payload.size());
        file += encode_header(static_cast<ChunkKind>(kind), sequence, payload);
        file += payload;
    }
    return file;
}

Trace import_bytes(std::string_view bytes) {
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", bytes);
    if (!source) return TraceBuilder(Origin{}).finish();
    TraceBuilder builder(Origin{});
    if (!import_capture(**source, builder).ok()) std::abort();
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::string file = data[0] % 2 == 0   ? std::string(rest)
                       : data[0] % 4 == 3 ? with_spool_headers(rest)
                                          : with_headers(rest);
    Trace trace = import_bytes(file);
    std::size_t bytes = 0;
    std::string first = dump(trace, bytes);
    if (bytes > 1'000'000 + 2000 * file.size()) std::abort();

    StringSink sink;
    if (!export_capture(trace, sink).ok()) std::abort();
    std::size_t ignored = 0;
    if (dump(import_bytes(sink.text()), ignored) != first) std::abort();
    return 0;
}
