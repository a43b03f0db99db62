// Fuzz target of the Kineto importer: any bytes, plain or compressed, give a trace or an error and nothing else happens; and
// cutting the input into pieces, whose size the first byte chooses, changes nothing of the answer.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "io/importers/kineto/assembly.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

std::string dump(const Trace& trace) {
    std::string text;
    auto out = std::back_inserter(text);
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        for (Row row = 0; row < table.rows; ++row) {
            text += spec.name;
            table.each_column([&](const ColumnSpec&, const auto& column) {
                using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
                if (!column.has(row)) {
                    text += " -";
                } else if constexpr (std::is_same_v<Value, StringId>) {
                    fmt::format_to(out, " {}", trace.text(column[row]));
                } else {
                    fmt::format_to(out, " {}", column[row]);
                }
            });
            text += '\n';
        }
    });
    return text;
}

// Everything that importing says. Without threads: starting them costs more than parsing, and the pieces are the same.
std::string import_bytes(std::string_view bytes, std::size_t piece_bytes) {
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", bytes);
    if (!source) return source.error().message;
    TraceBuilder builder(Origin{});
    kineto::Assembly assembly("fuzz", builder);
    Status status =
        kineto::parse_all(**source, {0, piece_bytes}, {}, [&](kineto::ParsedPiece& piece) { assembly.take(piece); });
    if (status) status = assembly.finish();
    if (!status) return status.error().message;
    Trace trace = std::move(builder).finish();
    if (trace.links().kernel_launch.size() != trace.kernel().rows) std::abort();
    return dump(trace);
}

}  // namespace

void run_kineto(std::string_view bytes) {
    if (bytes.empty()) return;
    auto choice = static_cast<std::uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    std::string whole = import_bytes(bytes, std::size_t{1} << 17);
    if (import_bytes(bytes, std::size_t{64} + std::size_t{8} * choice) != whole) std::abort();
}

}  // namespace gpuprof::fuzz
