#include "cli/query/shell.h"

#include "cli/output.h"
#include "cli/query/line_reader.h"

namespace gpuprof {
namespace {

// Reads one statement or dot command: lines up to a semicolon. Absent at the end of input.
std::optional<std::string> read_entry(LineReader& reader) {
    std::string entry;
    while (std::optional<std::string> line = reader.read(entry.empty() ? "gpu-profile> " : "        ...> ")) {
        if (entry.empty() && line->find_first_not_of(" \t") == std::string::npos) continue;
        entry += *line;
        if (is_complete_sql(entry) || entry[entry.find_first_not_of(" \t")] == '.') {
            reader.remember(entry);
            return entry;
        }
        entry += '\n';
    }
    return std::nullopt;
}

}  // namespace

Result<ExitCode> run_shell(QueryRun& run) {
    LineReader reader("query_history");
    run.sink.write("SQL shell for " + run.catalogue.trace().origin().file +
                   "; .help lists the commands, .quit leaves\n");
    run.sink.flush();
    while (std::optional<std::string> entry = read_entry(reader)) {
        if (entry->rfind(".quit", 0) == 0 || entry->rfind(".exit", 0) == 0) break;
        Result<ExitCode> done = run_sql(run, *entry);
        run.sink.flush();
        if (!done.ok()) note(done.error().message);
        if (run.sink.failed()) break;
    }
    return ExitCode::ok;
}

}  // namespace gpuprof
