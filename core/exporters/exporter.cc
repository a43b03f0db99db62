#include "core/exporters/exporter.h"

namespace gpuprof {
namespace {

constexpr Exporter kExporters[] = {
    {"capture", "This program's own file: small, checksummed, keeps every column.", ".gpuprof", true, export_capture},
    {"chrome", "Chrome trace JSON as PyTorch writes it, for Perfetto and chrome://tracing.", ".json", false,
     export_chrome},
    {"perfetto", "Perfetto's protobuf, for ui.perfetto.dev and its trace processor.", ".pftrace", true,
     export_perfetto},
    {"nsys", "SQLite as Nsight Systems exports it, for scripts that read that.", ".sqlite", true, export_nsys},
    {"speedscope", "Threads, streams and Python stacks as timelines of speedscope.app.", ".speedscope.json", false,
     export_speedscope},
    {"folded", "Device time in ns by range, operator and kernel, as folded stacks.", ".folded", false, export_folded},
    {"folded-python", "Samples of Python stacks, as folded stacks.", ".folded", false, export_folded_python},
    {"pprof", "Device time and launches by range, operator and kernel, for pprof.", ".pb.gz", true, export_pprof},
    {"hatchet", "Device time by range, operator and kernel, JSON as Proton writes it.", ".hatchet", false,
     export_hatchet},
    {"csv", "Every table as CSV, one after the other.", ".csv", false, export_csv},
};

}  // namespace

std::span<const Exporter> exporters() { return kExporters; }

const Exporter* find_exporter(std::string_view name) {
    for (const Exporter& exporter : kExporters)
        if (exporter.name == name) return &exporter;
    return nullptr;
}

}  // namespace gpuprof
