// Importer for the output of `ncu --csv`, with `--page raw` (one line per launch, one column per metric) or `--page
// details` (one line per metric) or `--page source` (one line per instruction), mixed with output of the program and of ncu. A metric without a value is absent;
// the advice of ncu's rules goes into a table of its own. These files have no timeline: a launch has a duration but no start.
// Format: https://docs.nvidia.com/nsight-compute/NsightComputeCli, "Page raw", "Print CSV"; no specification.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include "core/base/text/csv.h"
#include "io/importers/ncu/ncu_reader.h"
#include "io/importers/source/lines.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

// Calls take(line) for each line of `text` until it returns true.
template <class Take>
bool any_line(std::string_view text, Take take) {
    while (!text.empty()) {
        std::size_t end = std::min(text.find('\n'), text.size());
        if (take(text.substr(0, end))) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

}  // namespace

int sniff_ncu(std::string_view head) {
    bool certain = any_line(head, ncu::is_header);
    bool likely = any_line(head, [](std::string_view line) { return line.starts_with("==PROF== "); });
    if (certain || ncu::SourcePage::is_in(head)) return 100;
    return likely ? 40 : 0;
}

Status import_ncu(Source& source, TraceBuilder& builder) {
    Batch batch;
    ncu::Reader reader(batch);
    ncu::SourcePage instructions(batch);
    Lines lines(source);
    std::vector<std::string> fields;
    MemoryLimit limit(source);
    std::string record;  // starts with a quote that is not closed yet
    std::uint64_t begun = 0;
    std::string error;  // the first, which explains more than a warning
    std::uint64_t errors = 0, warnings = 0;
    std::string warning;
    while (auto line = lines.next()) {
        if (line->starts_with("==ERROR==") && errors++ == 0) error = *line;
        if (line->starts_with("==WARNING==") && warnings++ == 0) warning = *line;
        bool begins = line->starts_with('"');
        if (begins && !record.empty()) batch.lose(Loss::malformed_event, fmt::format("line {}", begun));
        if (begins) record.clear();
        if (!begins && record.empty()) continue;  // output of the program or of ncu
        if (begins) begun = lines.number();
        if (!record.empty()) record += '\n';
        record += *line;
        if (record.size() <= Lines::kMaxLineBytes && !split_csv(record, fields)) continue;
        if (!reader.take(fields, begun)) (void)instructions.take(fields, begun);
        if (limit.is_below(batch)) return limit.error();
        record.clear();
    }
    if (!lines.status().ok()) return lines.status();
    if (!record.empty()) batch.lose(Loss::truncated, fmt::format("line {}", begun));
    if (lines.cut() > 0) batch.lose(Loss::malformed_event, "lines over 16 MiB", lines.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    if (!reader.any_table() && !instructions.any())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: Nsight Compute output without a table; {}", source.name(),
                                 error.empty() ? "run ncu with --csv --page raw" : "it reported '" + error + "'")};
    if (errors > 0) batch.lose(Loss::recorder_warning, error, errors);
    if (warnings > 0) batch.lose(Loss::recorder_warning, warning, warnings);
    reader.finish();
    builder.set_tool("Nsight Compute");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
