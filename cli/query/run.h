// Runs SQL for the command `query` and its shell: statements, dot commands, Ctrl-C.
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
    std::int64_t limit = 0;  // maximum rows per answer; 0: all
    double time_out_s = 0;   // for all statements of one call; 0: none
};

// Runs the statements in `text`, or a dot command. Ctrl-C ends it with ExitCode 130, as in shells.
Result<ExitCode> run_sql(QueryRun& run, std::string_view text);

}  // namespace gpuprof
