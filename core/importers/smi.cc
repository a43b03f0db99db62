#include "core/importers/smi.h"

#include <fmt/format.h>

#include "core/importers/lines.h"
#include "core/importers/smi/log.h"

namespace gpuprof {

// Its first lines: a header may come after a message.
int sniff_smi(std::string_view head) {
    constexpr int kLines = 5;
    for (int line = 0; line < kLines && !head.empty(); ++line) {
        std::size_t end = std::min(head.find('\n'), head.size());
        if (smi_log::header_of(head.substr(0, end))) return 80;
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return 0;
}

Status import_smi(Source& source, TraceBuilder& builder) {
    Batch batch;
    smi_log::Log log(batch);
    Lines lines(source);
    while (auto line = lines.next()) log.take(*line, lines.number());
    if (!lines.status().ok()) return lines.status();
    if (!log.any()) return Error{ExitCode::unreadable, fmt::format("{}: no log of nvidia-smi", source.name())};
    if (lines.cut() > 0) batch.lose(Loss::malformed_event, "lines over 16 MiB", lines.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("nvidia-smi");
    if (!log.about_times().empty()) builder.set_meta("sample_times", log.about_times());
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof
