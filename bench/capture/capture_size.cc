// Bytes per kernel of a capture: exports each trace and prints one line of a Markdown table per file. "Kernel with its
// launch" is everything in the chunks of `kernel` and `api_call`, including headers and dictionaries, divided by the
// number of kernels.
//   capture_size FILE...
#include <fmt/format.h>

#include <map>
#include <string>

#include "core/base/files/sink.h"
#include "core/format/chunk.h"
#include "core/format/table_chunk.h"
#include "io/exporters/exporter.h"
#include "io/importers/importer.h"

namespace {

using namespace gpuprof;

std::map<std::string, std::size_t, std::less<>> bytes_by_table(std::string_view capture) {
    std::map<std::string, std::size_t, std::less<>> bytes;
    Decompressor zstd;
    while (std::optional<ChunkHeader> header = decode_header(capture)) {
        std::optional<TableChunk> chunk = TableChunk::read(capture.substr(kChunkHeaderBytes, header->length), zstd);
        if (chunk) bytes[std::string(chunk->table())] += kChunkHeaderBytes + header->length;
        capture.remove_prefix(kChunkHeaderBytes + header->length);
    }
    return bytes;
}

bool print_line(const std::string& file) {
    Result<Trace> trace = open_file(file);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().message), false;
    StringSink sink;
    if (Status status = export_capture(*trace, sink); !status)
        return fmt::print(stderr, "{}\n", status.error().message), false;
    auto bytes = bytes_by_table(sink.text());
    std::size_t kernels = trace->kernel().rows, both = bytes["kernel"] + bytes["api_call"];
    fmt::print("| {} | {} | {} | {} | {} | {:.1f} | {} |\n", file.substr(file.rfind('/') + 1), kernels,
               trace->api_call().rows, bytes["kernel"], bytes["api_call"],
               kernels == 0 ? 0 : static_cast<double>(both) / static_cast<double>(kernels), sink.text().size());
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    fmt::print(
        "| trace | kernels | API calls | kernel bytes | api_call bytes | bytes per kernel with launch | whole capture "
        "|\n");
    fmt::print("|---|---:|---:|---:|---:|---:|---:|\n");
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i) good = print_line(argv[i]) && good;
    return good ? 0 : 1;
}
