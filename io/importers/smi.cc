// Importer for nvidia-smi logs: `--query-gpu=... --format=csv` with any fields, with or without units, `dmon` in both
// of its formats, and `-q -x`. Their times are local and have no time zone: they are read as UTC, and the trace says
// so; a log without times gives samples without times.
// Format: nvidia-smi --help-query-gpu, nvidia-smi dmon --help.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include "io/importers/smi/smi_log.h"
#include "io/importers/smi/xml_report.h"
#include "io/importers/source/lines.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {

// Its first lines: a message may precede the header.
int sniff_smi(std::string_view head) {
    if (head.find(smi_log::kReportMark) != head.npos) return 90;
    constexpr int kLines = 5;
    for (int line = 0; line < kLines && !head.empty(); ++line) {
        std::size_t end = std::min(head.find('\n'), head.size());
        if (smi_log::header_of(head.substr(0, end))) return 80;
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return 0;
}

Status import_answers(Source& source, TraceBuilder& builder) {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
    Result<std::string> xml = read_all(source, kMaxBytes);
    if (!xml.ok()) return xml.error();
    constexpr std::size_t kBytesPerXmlByte = 8;  // memory of the rows that a short element becomes
    if (MemoryLimit limit(source); limit.is_below(xml->size() * kBytesPerXmlByte)) return limit.error();
    Batch batch;
    builder.set_meta("sample_times", smi_log::read_reports(*xml, batch));
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("nvidia-smi");
    builder.append(std::move(batch));
    return {};
}

Status import_smi(Source& source, TraceBuilder& builder) {
    if (source.head().find(smi_log::kReportMark) != std::string_view::npos) return import_answers(source, builder);
    Batch batch;
    smi_log::Log log(batch);
    Lines lines(source);
    MemoryLimit limit(source);
    bool cut_off = false;
    while (auto line = lines.next()) {
        // nvidia-smi ends each line: a line without an end is truncated, and its last number may be too.
        cut_off = !lines.ended();
        if (cut_off) break;
        log.take(*line, lines.number());
        if (limit.is_below(batch)) return limit.error();
    }
    if (!lines.status().ok()) return lines.status();
    if (!log.any())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: {}", source.name(),
                                 cut_off ? "the nvidia-smi log ends within its header" : "not an nvidia-smi log")};
    if (cut_off) batch.lose(Loss::truncated, fmt::format("line {}", lines.number()));
    if (lines.cut() > 0) batch.lose(Loss::malformed_event, "lines over 16 MiB", lines.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("nvidia-smi");
    if (!log.about_times().empty()) builder.set_meta("sample_times", log.about_times());
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
