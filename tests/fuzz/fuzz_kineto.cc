// libFuzzer target of the Kineto importer: any bytes, plain or compressed, give a trace or an error and nothing else happens; and
// cutting the input into pieces, whose size the first byte chooses, changes nothing of the answer.
//
//   build/fuzz/fuzz_kineto -max_total_time=60 -max_len=20000 CORPUS_DIR
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/importers/kineto/assembly.h"

namespace {

using namespace gpuprof;

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
        kineto::parse_all(**source, {0, piece_bytes}, [&](kineto::ParsedPiece& piece) { assembly.take(piece); });
    if (status) status = assembly.finish();
    if (!status) return status.error().message;
    Trace trace = std::move(builder).finish();
    if (trace.links().kernel_launch.size() != trace.kernel().rows) std::abort();
    return dump(trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::string whole = import_bytes(bytes, std::size_t{1} << 17);
    if (import_bytes(bytes, std::size_t{64} + 8 * data[0]) != whole) std::abort();
    return 0;
}
