#include "io/importers/importer.h"

#include <fmt/format.h>

#include "core/base/text/shell_words.h"
#include "io/importers/foreign_file.h"
#include "io/importers/formats.h"
#include "io/importers/vendor_report.h"

namespace gpuprof::inline importers {
namespace {

constexpr Importer kImporters[] = {
    {"capture", "gpu-profile capture, *.gpuprof", sniff_capture, import_capture},
    {"kineto", "PyTorch profiler (Kineto) Chrome trace, JSON", sniff_kineto, import_kineto},
    {"nsys", "Nsight Systems export, SQLite", sniff_nsys, import_nsys},
    {"rocpd", "AMD profile: rocpd of rocprofv3, rocmProfileData, or rocprof-compute, SQLite", sniff_rocpd,
     import_rocpd},
    {"rocprof_json", "AMD profile of rocprofv3, JSON", sniff_rocprof_json, import_rocprof_json},
    {"nsys_stats", "Nsight Systems cuda_gpu_trace (nsys stats), CSV", sniff_nsys_stats, import_nsys_stats},
    {"ncu", "Nsight Compute, CSV", sniff_ncu, import_ncu},
    {"smi", "nvidia-smi log: --query-gpu CSV, dmon or -q -x", sniff_smi, import_smi},
    {"torch_snapshot", "PyTorch CUDA memory snapshot, pickle", sniff_torch_snapshot, import_torch_snapshot},
    {"torch_timeline", "PyTorch raw memory timeline, JSON", sniff_torch_timeline, import_torch_timeline},
    {"torch_rows", "PyTorch memory timeline of sums by category, JSON", sniff_torch_rows, import_torch_rows},
    {"flight_recorder", "PyTorch flight recorder dump (NCCL), pickle or JSON", sniff_flight_recorder,
     import_flight_recorder},
    {"nccl_inspector", "NCCL Inspector, JSON lines", sniff_nccl_inspector, import_nccl_inspector},
    {"xplane", "JAX and TensorFlow profile (XProf), xplane.pb", sniff_xplane, import_xplane},
    {"xprof_json", "JAX and TensorFlow trace (XProf), JSON", sniff_xprof_json, import_xprof_json},
    {"proton", "Proton (Triton) or Hatchet tree, JSON or MessagePack", sniff_proton, import_proton},
    {"proton_scopes", "Proton (Triton) scopes of warps inside kernels, Chrome trace", sniff_proton_scopes,
     import_proton_scopes},
    {"perfetto", "Perfetto trace of Cuspy, rocprofv3, rocprof-sys, wprof, Proton or gpu-profile, protobuf",
     sniff_perfetto, import_perfetto},
    {"wprof", "wprof, JSON lines", sniff_wprof, import_wprof},
    {"pprof", "pprof profile, e.g. of JAX device memory", sniff_pprof, import_pprof},
    {"series", "samples written by gpu-profile --csv", sniff_series, import_series},
};

const Importer* recognise(std::string_view head) {
    const Importer* best = nullptr;
    int surest = 0;
    for (const Importer& importer : kImporters) {
        int certainty = importer.sniff(head);
        if (certainty > surest) {
            surest = certainty;
            best = &importer;
        }
    }
    return best;
}

std::string known_formats() {
    std::string list;
    for (const Importer& importer : kImporters) list += (list.empty() ? "" : "; ") + std::string(importer.doc);
    return list;
}

Error converted_to_text(const Source& source) {
    return {ExitCode::unreadable, fmt::format("cannot read {}: {}", source.name(), kConvertedToText)};
}

Error unrecognised(Source& source) {
    if (was_converted_to_text(source.head())) return converted_to_text(source);
    if (source.head().empty())
        return {ExitCode::unreadable,
                fmt::format(
                    "cannot read {}: {}", source.name(),
                    source.damaged() ? "the compressed data is damaged; copy the file again" : "the input is empty")};
    if (std::string_view what = foreign_file(source.head()); !what.empty())
        return {ExitCode::unreadable, fmt::format("cannot read {}: {}", source.name(), what)};
    return {ExitCode::unreadable,
            fmt::format("cannot read {}: unknown format; supported: {}; gzip and zstd are decompressed", source.name(),
                        known_formats())};
}

// SQLite begins with text, so such a file is recognised although the rest was converted.
bool begins_with_text(const Importer& importer) {
    return importer.import == import_nsys || importer.import == import_rocpd;
}

// Null: the error that says so.
Result<Trace> import_as(const Importer* importer, Source& source, const ColumnSelection& selected = {}) {
    if (importer == nullptr) return unrecognised(source);
    if (begins_with_text(*importer) && was_converted_to_text(source.head())) return converted_to_text(source);
    TraceBuilder builder(Origin{shell_quoted_file(source.name()), std::string(importer->name), {}}, selected);
    if (Status status = importer->import(source, builder); !status) {
        Error error = status.error();
        if (source.damaged())
            error.message =
                fmt::format("the input is damaged: {}; {}", spec_of(Loss::bad_compression).doc, error.message);
        return error;
    }
    return std::move(builder).finish();
}

}  // namespace

std::span<const Importer> all_importers() { return kImporters; }

Result<Trace> import_trace(Source& source) { return import_as(recognise(source.head()), source); }

Result<OpenedFile> recognise_file(const std::string& path, const std::string& name, const ReadLimits& limits) {
    Result<std::unique_ptr<Source>> source = open_source(path, name, limits);
    if (!source) return source.error();
    std::string_view head = (*source)->head();
    const Importer* importer = recognise(head);
    return OpenedFile{path, std::move(*source), importer, importer == nullptr && is_vendor_report(path, head)};
}

Result<Trace> import_file(const OpenedFile& file, const ColumnSelection& selected) {
    if (!file.needs_vendor_tool) return import_as(file.importer, *file.source, selected);
    Result<std::unique_ptr<Source>> exported =
        export_vendor_report(file.path, file.source->head(), file.source->limits());
    if (!exported.ok()) return exported.error();
    return import_as(recognise((*exported)->head()), **exported, selected);
}

Result<Trace> open_file(const std::string& file, const ReadLimits& limits) { return open_file(file, file, limits); }

Result<Trace> open_file(const std::string& file, const std::string& name, const ReadLimits& limits) {
    Result<OpenedFile> opened = recognise_file(file, name, limits);
    if (!opened) return opened.error();
    return import_file(*opened);
}

}  // namespace gpuprof::importers
