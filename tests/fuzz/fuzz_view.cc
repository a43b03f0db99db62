// Fuzz target of what the viewer gets: the document of a recording made of chunks (chunks.h), or of any file that an importer takes. It is
// refused, or its manifest is JSON, and every blob is JSON or a payload that reads back as it is; a single file of it holds no
// element that the recording brought.
#include <simdjson.h>

#include <string>

#include "core/format/table_chunk.h"
#include "present/view/document.h"
#include "tests/fuzz/fuzz_chunks.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

bool is_json(const std::string& text) {
    simdjson::dom::parser parser;
    return parser.parse(text).error() == simdjson::SUCCESS;
}

bool is_payload(const std::string& bytes) {
    Decompressor none;
    return TableChunk::read(bytes, none).has_value();
}

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++times;
    return times;
}

}  // namespace

void run_view(std::string_view bytes) {
    std::optional<Trace> trace = any_recording(bytes);
    if (!trace) return;
    Result<ViewDocument> document = ViewDocument::make(std::move(*trace), "fuzz");
    if (!document) return;
    promise(is_json(document->manifest()), "the manifest is JSON");
    promise(document->early_blobs() <= document->blobs(), "the first frame uses existing blobs");
    for (std::size_t id = 0; id < document->blobs(); ++id) {
        std::string blob = document->blob(id, EncodingGoal::narrowest);
        promise(is_payload(blob) || is_json(blob), "a blob is a payload or JSON");
    }
    StringSink sink;
    ViewPair pair{std::move(document).value()};
    promise(write_single_file(pair, "<html><!--gpu-profile:data--></html>", sink).ok(), "a single file is written");
    promise(count(sink.text(), "<") == 2 * count(sink.text(), "<script type=\"application/") + 2,
            "no element but those of the page");
}

}  // namespace gpuprof::fuzz
