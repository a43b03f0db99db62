#include "core/importers/smi.h"

#include <fmt/format.h>

#include "core/importers/lines.h"
#include "core/importers/smi/answer.h"
#include "core/importers/smi/log.h"
#include "core/importers/whole.h"

namespace gpuprof {

// Its first lines: a header may come after a message.
int sniff_smi(std::string_view head) {
    if (head.find(smi_log::kAnswerMark) != head.npos) return 90;
    constexpr int kLines = 5;
    for (int line = 0; line < kLines && !head.empty(); ++line) {
        std::size_t end = std::min(head.find('\n'), head.size());
        if (smi_log::header_of(head.substr(0, end))) return 80;
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return 0;
}

Status import_answers(Source& source, TraceBuilder& builder) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 30;
    Result<std::string> xml = read_whole(source, kMostBytes);
    if (!xml.ok()) return xml.error();
    Batch batch;
    builder.set_meta("sample_times", smi_log::read_answers(*xml, batch));
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("nvidia-smi");
    builder.append(std::move(batch));
    return {};
}

Status import_smi(Source& source, TraceBuilder& builder) {
    if (source.head().find(smi_log::kAnswerMark) != std::string_view::npos) return import_answers(source, builder);
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
