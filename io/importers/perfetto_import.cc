// Importer for Perfetto traces: those of PyTorch's CUPTI profiler (Cuspy), rocprofv3, rocprof-sys, wprof, Proton, and of
// `gpu-profile export perfetto`. Of other writers' traces, slices become ranges and counters samples.
// Format: https://perfetto.dev/docs/reference/trace-packet-proto; read without Perfetto's own libraries.
#include <fmt/format.h>

#include "io/importers/formats.h"
#include "io/importers/perfetto/perfetto_rows.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/protobuf.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::size_t kMaxTraceBytes = std::size_t{4} << 30;

// What every packet has, apart from its content: times, a sequence, a clock, or one of the contents that begin a trace.
bool is_known_field(std::uint32_t number) {
    constexpr std::uint32_t kNumbers[] = {3,  6,  8,  10, 11, 12, 13, 33, 35, 36, 41, 42, 45,
                                          50, 52, 53, 58, 59, 60, 68, 69, 79, 87, 89, 133};
    for (std::uint32_t known : kNumbers)
        if (number == known) return true;
    return number > 133 && number < 1000;
}

}  // namespace

// xplane and pprof begin with the same byte. The first packets must consist of known fields, and one must have a
// sequence, a track, a clock or packed packets.
int sniff_perfetto(std::string_view head) {
    if (!head.starts_with('\x0A')) return 0;
    int packets = 0, telling = 0;
    ProtobufFields trace(head);
    while (packets < 16 && trace.next()) {
        if (trace.number() != 1 || !trace.is_bytes()) return 0;
        ++packets;
        ProtobufFields packet(trace.bytes());
        while (packet.next()) {
            if (!is_known_field(packet.number())) return 0;
            bool message =
                packet.number() == 6 || packet.number() == 60 || packet.number() == 50 || packet.number() == 133;
            bool number = packet.number() == 10 || packet.number() == 13 || packet.number() == 8;
            if (message != packet.is_bytes() && (message || number)) return 0;
            telling += message || packet.number() == 10 ? 1 : 0;
        }
        if (packet.damaged()) return 0;
    }
    return packets > 0 && telling > 0 ? 80 : 0;
}

Status import_perfetto(Source& source, TraceBuilder& builder) {
    Result<std::string> bytes = read_all(source, kMaxTraceBytes);
    if (!bytes.ok()) return bytes.error();
    Batch batch;
    MemoryLimit limit(source);
    perfetto::PerfettoTrace trace(*bytes, batch);
    std::uint64_t left = limit.bytes() - std::min<std::uint64_t>(limit.bytes(), bytes->size());
    if (!trace.open(left)) return limit.error();
    if (trace.packets() == 0)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not a Perfetto trace: no packets", source.name())};
    perfetto::Writer writer = perfetto::writer_of(trace);
    perfetto::PerfettoRows rows(trace, writer, batch);
    trace.read(rows);
    rows.finish();
    if (limit.is_below(bytes_of(batch) + bytes->size() + rows.bytes())) return limit.error();
    const Tables& tables = batch.tables;
    bool any = tables.kernel.rows + tables.memcpy.rows + tables.memset.rows + tables.api_call.rows + tables.op.rows +
                   tables.range.rows + tables.sample.rows + tables.overhead.rows + tables.os_call.rows +
                   tables.python_call.rows + tables.cpu_slice.rows + tables.sync.rows + tables.device_range.rows >
               0;
    if (!any && writer == perfetto::Writer::unknown)
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot read {}: a Perfetto trace without GPU work, calls or counters ({} packets); record "
                        "with a tool that traces the GPU",
                        source.name(), trace.packets())};
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool(std::string(perfetto::name_of(writer)));
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
