// A session of `query` that reads entries: SQL statements up to a semicolon, or dot commands.
#pragma once

#include "cli/query/run_query.h"

namespace gpuprof::inline cli {

// Interactive: until .quit or the end of input. Errors and Ctrl-C end an entry, not the session.
Result<ExitCode> run_shell(QueryRun& run);
// Runs all entries of a text; the first error ends it. Statements need no semicolon at the end of the text.
Result<ExitCode> run_script(QueryRun& run, std::string text);

}  // namespace gpuprof::cli
