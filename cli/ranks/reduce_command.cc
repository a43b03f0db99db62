#include "cli/ranks/reduce_command.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "core/model/build/damage.h"
#include "io/exporters/capture_export.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

// Takes the recording, so that only the summary is in memory when it is written.
Result<Trace> summarise(Trace trace, const RankFile& given, const Options& options) {
    if (trace.tables().rank.rows > 0) return trace;  // a summary already
    RankFile file = given;
    std::optional<std::int32_t> rank = rank_of(trace, file);
    if (!rank)
        return Error{ExitCode::unreadable,
                     fmt::format("{} names no rank, and neither does its name; see --rank-from", file.path)};
    if (std::string damage = damage_of(trace); !damage.empty()) {
        file.cut = true;
        file.reason = damage;
    }
    Facts facts(trace, options);
    Batch rows;
    reduce_rank(facts, file, *rank, rows);
    TraceBuilder builder(trace.origin());
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

}  // namespace

Status reduce_file(const RankFile& file, const Options& options, const ReadLimits& limits, const std::string& output) {
    Result<OpenedFile> opened = recognise_file(file.path, file.path, limits);
    if (!opened.ok()) return opened.error();
    // An empty code tells `ranks` that this is not a recording at all.
    if (opened->is_foreign()) return Error{ExitCode::empty, fmt::format("{} is not a recording", file.path)};
    Result<Trace> trace = import_file(*opened, reduced_columns());
    if (!trace.ok()) return trace.error();
    Result<Trace> summary = summarise(std::move(trace).value(), file, options);
    if (!summary.ok()) return summary.error();
    return write_output(
        output, [&](Sink& sink) { return write_capture(*summary, sink, {}); }, FileAccess::owner);
}

}  // namespace gpuprof::cli
