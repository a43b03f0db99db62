// The time to open a capture, step by step: reading and checking its chunks, importing it (decoding into tables), and
// producing a Trace. Each step is repeated; the best of N runs (default: 3) counts.
//   open_capture FILE [N]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/format/chunk_reader.h"
#include "io/importers/formats.h"
#include "io/importers/importer.h"

namespace {

using namespace gpuprof;

template <class Step>
double best_seconds(int runs, Step&& step) {
    double best = 1e9;
    for (int run = 0; run < runs; ++run) {
        auto begin = std::chrono::steady_clock::now();
        step();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

class Input final : public ByteInput {
public:
    explicit Input(Source& source) : source_(source) {}
    Result<std::size_t> read(char* into, std::size_t size) override { return source_.read(into, size); }

private:
    Source& source_;
};

std::uint64_t read_chunks(const std::string& file) {
    auto source = open_source(file);
    if (!source) return 0;
    Input input(**source);
    ChunkReader reader(input);
    RawChunk chunk;
    while (true) {
        Result<bool> more = reader.next(chunk);
        if (!more || !*more) return reader.offset();
    }
}

void import_only(const std::string& file) {
    auto source = open_source(file);
    TraceBuilder builder(Origin{});
    if (source) (void)import_capture(**source, builder).ok();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return fmt::print(stderr, "usage: open_capture FILE [N]\n"), 2;
    int runs = argc > 2 ? std::stoi(argv[2]) : 3;
    std::string file = argv[1];
    Result<Trace> trace = open_file(file);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().message), 3;
    auto kernels = static_cast<double>(trace->kernel().rows);
    auto bytes = static_cast<double>(read_chunks(file));
    fmt::print("{}: {:.1f} MB, {:.2f} million kernels, {:.1f} bytes per kernel\n", file, bytes / 1e6, kernels / 1e6,
               bytes / kernels);
    trace = Error{};
    fmt::print("read and check chunks: {:.3f} s\n", best_seconds(runs, [&] { read_chunks(file); }));
    fmt::print("import into tables:    {:.3f} s\n", best_seconds(runs, [&] { import_only(file); }));
    fmt::print("open to a trace:       {:.3f} s\n", best_seconds(runs, [&] { (void)open_file(file).ok(); }));
    return 0;
}
