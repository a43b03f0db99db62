// Importers: bytes of some tool -> TraceBuilder. all_importers() is the list of the product's importers. open_file() picks
// one by content, never by file name, so every command that takes a FILE takes every supported file, and "-" for
// standard input. Compressed input (gzip, zstd) is also detected by content. Folders and several files: open_trace.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

struct Importer {
    std::string_view name;
    std::string_view doc;
    // How sure it is that bytes starting with `head` (decompressed, up to 64 KiB) are its own: 0 no, 100 certain.
    int (*sniff)(std::string_view head);
    // Reads all of `source`. Fails only if the whole input is untrustworthy; bad parts are losses.
    Status (*import)(Source& source, TraceBuilder& builder);
};

std::span<const Importer> all_importers();

// Detects the format of `source` and imports it. Unknown format: ExitCode::unreadable.
Result<Trace> import_trace(Source& source);

// An open file and its format by its first bytes, which are examined only once.
struct OpenedFile {
    std::string path;
    std::unique_ptr<Source> source;
    const Importer* importer = nullptr;  // null: unknown format
    bool needs_vendor_tool = false;      // a report that only its vendor's tool can read (vendor_report.h)

    // Something other than a recording. An empty file does not count: it may be a failed recording.
    bool is_foreign() const { return importer == nullptr && !needs_vendor_tool && !source->head().empty(); }
};
// `name` is the name of the file in the trace.
Result<OpenedFile> recognise_file(const std::string& path, const std::string& name, const ReadLimits& limits);
// The trace has the columns that are `selected`.
Result<Trace> import_file(const OpenedFile& file, const ColumnSelection& selected = {});

// Both for one file.
Result<Trace> open_file(const std::string& file, const ReadLimits& limits = {});
Result<Trace> open_file(const std::string& file, const std::string& name, const ReadLimits& limits);

}  // namespace gpuprof::importers
