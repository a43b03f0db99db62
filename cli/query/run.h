// Running SQL for the command `query` and its shell: statements, dot commands, Ctrl-C.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/query/output.h"
#include "core/query/sql.h"

namespace gpuprof {

struct QueryRun {
    Catalogue& catalogue;
    Sql& sql;
    AnswerWriter& writer;
    Sink& sink;
    Style style;
    std::int64_t limit = 0;  // rows of each answer; 0: all
    double time_out_s = 0;   // for all statements of one call; 0: none
};

// Runs the statements of `text`, or the dot command that it is. Ctrl-C ends it: ExitCode 130, as shells have it.
Result<ExitCode> run_sql(QueryRun& run, std::string_view text);

}  // namespace gpuprof
