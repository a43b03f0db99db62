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
