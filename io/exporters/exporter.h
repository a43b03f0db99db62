// Exporters: a trace -> the bytes of some format. all_exporters() is the list of the product's exporters. A new one is a
// file and a line in the array of exporter.cc. They never print; the owner of the sink knows whether the bytes were
// written.
#pragma once

#include <span>
#include <string_view>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof::inline exporters {

struct Exporter {
    std::string_view name;
    std::string_view doc;
    std::string_view suffix;  // usual file name suffix, with the dot
    bool binary;              // not suitable for a terminal
    // What it writes; a trace without any of it has nothing to export.
    std::string_view content;
    bool (*has_content)(const Trace& trace);
    Status (*run)(const Trace& trace, Sink& sink);
};

std::span<const Exporter> all_exporters();
// By name; null if unknown.
const Exporter* find_exporter(std::string_view name);

Status export_capture(const Trace& trace, Sink& sink);
Status export_chrome(const Trace& trace, Sink& sink);
Status export_perfetto(const Trace& trace, Sink& sink);
Status export_nsys(const Trace& trace, Sink& sink);
Status export_speedscope(const Trace& trace, Sink& sink);
Status export_folded(const Trace& trace, Sink& sink);
Status export_folded_python(const Trace& trace, Sink& sink);
Status export_folded_source(const Trace& trace, Sink& sink);
Status export_pprof(const Trace& trace, Sink& sink);
Status export_pprof_source(const Trace& trace, Sink& sink);
Status export_otlp_profiles(const Trace& trace, Sink& sink);
Status export_hatchet(const Trace& trace, Sink& sink);
Status export_csv(const Trace& trace, Sink& sink);

}  // namespace gpuprof::exporters
