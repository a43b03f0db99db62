#include "io/exporters/exporter.h"

#include <type_traits>

#include "io/exporters/instruction_samples.h"

namespace gpuprof::inline exporters {
namespace {

template <class Table>
bool has_rows_with_time(const Table& table) {
    if constexpr (requires { table.start; })
        return table.rows > 0;
    else if constexpr (requires { table.time; })
        return table.rows > 0 && !std::is_same_v<Table, ClockTable>;
    else
        return false;
}

bool has_rows(const Trace& trace) {
    bool any = false;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        any |= table.rows > 0 && !std::is_same_v<Table, LossTable> && !std::is_same_v<Table, MetaTable>;
    });
    return any;
}

bool has_events(const Trace& trace) {
    bool any = false;
    trace.tables().each_table([&](const TableSpec&, const auto& table) { any |= has_rows_with_time(table); });
    return any;
}

bool has_device_work(const Trace& trace) { return trace.kernel().rows + trace.memcpy().rows + trace.memset().rows > 0; }

bool has_python(const Trace& trace) {
    return trace.tables().stack_sample.rows > 0 || trace.tables().python_call.rows > 0;
}

constexpr std::string_view kEvents = "timestamped events", kWork = "kernels, copies or fills with times",
                           kSamples = "samples of instructions";

constexpr Exporter kExporters[] = {
    {"capture", "gpu-profile's own format: small, checksummed, keeps every column.", ".gpuprof", true, "rows", has_rows,
     export_capture},
    {"chrome", "Chrome trace JSON as PyTorch writes it, for Perfetto and chrome://tracing.", ".json", false, kEvents,
     has_events, export_chrome},
    {"perfetto", "Perfetto's protobuf, for ui.perfetto.dev and its trace_processor.", ".pftrace", true, kEvents,
     has_events, export_perfetto},
    {"nsys", "SQLite as Nsight Systems exports it, for scripts that read such files.", ".sqlite", true, kEvents,
     has_events, export_nsys},
    {"speedscope", "Threads, streams and Python stacks as timelines of speedscope.app.", ".speedscope.json", false,
     kEvents, has_events, export_speedscope},
    {"folded", "Device time in ns by range, operator and kernel, as folded stacks.", ".folded", false, kWork,
     has_device_work, export_folded},
    {"folded-python", "Python stacks as folded stacks: samples, or ns of recorded calls.", ".folded", false,
     "Python stacks or calls", has_python, export_folded_python},
    {"folded-source", "Warp samples by kernel, source line and stall reason, as folded stacks.", ".folded", false,
     kSamples, has_instruction_samples, export_folded_source},
    {"pprof", "Device time and launches by range, operator and kernel, for pprof.", ".pb.gz", true, kWork,
     has_device_work, export_pprof},
    {"pprof-source", "Warp samples by kernel, source line and stall reason, for pprof.", ".pb.gz", true, kSamples,
     has_instruction_samples, export_pprof_source},
    {"otlp-profiles", "Experimental: the same for OpenTelemetry's Collector (OTLP 1.11.0).", ".otlp.pb", true, kWork,
     has_device_work, export_otlp_profiles},
    {"hatchet", "Device time by range, operator and kernel, JSON as Proton writes it.", ".hatchet", false, kWork,
     has_device_work, export_hatchet},
    {"csv", "All tables as CSV, one after the other.", ".csv", false, "rows", has_rows, export_csv},
};

}  // namespace

std::span<const Exporter> all_exporters() { return kExporters; }

const Exporter* find_exporter(std::string_view name) {
    for (const Exporter& exporter : kExporters)
        if (exporter.name == name) return &exporter;
    return nullptr;
}

}  // namespace gpuprof::exporters
