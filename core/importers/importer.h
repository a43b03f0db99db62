// Importers: bytes of some tool -> TraceBuilder. importers() is the list of the product's importers; open_file() picks
// one by content, never by file name, so every command that takes a FILE takes every supported file, and "-" for
// standard input. Compressed input (gzip, zstd) is recognised by content too. Folders and several files: several.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

struct Importer {
    std::string_view name;
    std::string_view doc;
    // How sure it is that bytes beginning with `head` (decompressed, up to 64 KiB) are its own: 0 no, 100 certain.
    int (*sniff)(std::string_view head);
    // Reads all of `source`. Fails only when nothing in it can be trusted; bad parts are losses.
    Status (*import)(Source& source, TraceBuilder& builder);
};

std::span<const Importer> importers();

// Recognises what `source` gives and imports it. Not recognised: ExitCode::unreadable.
Result<Trace> import_trace(Source& source);

// A file that is open, and what it is by how it begins. This is looked at once, however many ask.
struct OpenedFile {
    std::string path;
    std::unique_ptr<Source> source;
    const Importer* importer = nullptr;  // null: none knows it
    bool closed = false;                 // a report that only its maker's tool can read (closed.h)

    // Something other than a recording. An empty file is not: it may have been meant to become one.
    bool is_foreign() const { return importer == nullptr && !closed && !source->head().empty(); }
};
// `name` is what the trace calls the file.
Result<OpenedFile> recognise_file(const std::string& path, const std::string& name, const ReadLimits& limits);
Result<Trace> import_file(const OpenedFile& file);

// Both of one file.
Result<Trace> open_file(const std::string& file, const ReadLimits& limits = {});
Result<Trace> open_file(const std::string& file, const std::string& name, const ReadLimits& limits);

}  // namespace gpuprof
