// Importer for the traces of the PyTorch profiler (Kineto): Chrome trace JSON, as an object with "traceEvents" or a
// bare array, in every schema since PyTorch 1.8, from NVIDIA, AMD and CPU-only machines. Times become exact integer
// nanoseconds, with baseTimeNanoseconds added. Damaged files are read up to the damage; everything else is a loss.
// Format: https://github.com/pytorch/kineto, libkineto/src/output_json.cpp.
#include "io/importers/formats.h"

#include <atomic>

#include "core/base/text/ascii.h"
#include "io/importers/kineto/assembly.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

std::string_view without_space(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
    return text;
}

// Fails once the events exceed the memory limit; other threads read pieces ahead.
class StoppableSource final : public Source {
public:
    explicit StoppableSource(Source& source) : source_(source) {}
    void stop() { stopped_ = true; }

    Result<std::size_t> read(char* into, std::size_t size) override {
        if (stopped_) return MemoryLimit(source_).error();
        return source_.read(into, size);
    }
    std::string_view head() override { return source_.head(); }
    const std::string& name() const override { return source_.name(); }
    std::uint64_t plain_size() const override { return source_.plain_size(); }
    int plain_fd() const override { return source_.plain_fd(); }
    bool damaged() const override { return source_.damaged(); }
    std::uint64_t own_bytes() const override { return source_.own_bytes(); }
    const ReadLimits& limits() const override { return source_.limits(); }

private:
    Source& source_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace

int sniff_kineto(std::string_view head) {
    head = without_space(head);
    if (head.starts_with('{')) {
        if (contains(head, "\"traceEvents\"")) return 90;
        // The header may be longer than the head: a job of a thousand ranks lists them all.
        return contains(head, "\"schemaVersion\"") && contains(head, "\"deviceProperties\"") ? 70 : 0;
    }
    if (!head.starts_with('[')) return 0;
    return without_space(head.substr(1)).starts_with('{') && contains(head, "\"ph\"") ? 80 : 0;
}

Status import_kineto(Source& source, TraceBuilder& builder) {
    kineto::Assembly assembly(source.name(), builder);
    StoppableSource stoppable(source);
    MemoryLimit limit(source);
    std::uint64_t held = 0;
    Status status = kineto::parse_all(stoppable, kineto::default_shape(builder.selected()), builder.selected(),
                                      [&](kineto::ParsedPiece& piece) {
                                          held += bytes_of(piece.block.rows) + bytes_of(piece.block.late);
                                          if (limit.is_below(held)) return stoppable.stop();
                                          assembly.take(piece);
                                      });
    if (!status) return status;
    if (source.damaged()) builder.lose(Loss::bad_compression, source.name());
    return assembly.finish();
}

}  // namespace gpuprof::importers
