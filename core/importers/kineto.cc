#include "core/importers/kineto.h"

#include "core/importers/kineto/assembly.h"

namespace gpuprof {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view without_space(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
    return text;
}

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
    Status status =
        kineto::parse_all(source, kineto::usual_shape(), [&](kineto::ParsedPiece& piece) { assembly.take(piece); });
    if (!status) return status;
    if (source.damaged()) builder.lose(Loss::bad_compression, source.name());
    return assembly.finish();
}

}  // namespace gpuprof
