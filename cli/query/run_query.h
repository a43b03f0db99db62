// Runs SQL for the command `query` and its shell: statements, dot commands, Ctrl-C.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "cli/query/query_output.h"
#include "present/query/sql.h"

namespace gpuprof::inline cli {

// One session of queries over a recording.
struct QueryRun {
    Catalogue& catalogue;
    Sql& sql;
    Sink& sink;
    Style style;
    std::int64_t limit = -1;             // rows per answer; 0: all, -1: the usual limit of the format
    double time_out_s = 0;               // for a script, or an entry of the shell; 0: none
    bool timer = false;                  // print how long each entry took
    std::function<bool()> is_full = {};  // whether an answer ends here, although it has further rows
    DurNs took = 0;                      // the last entry
    bool ended = false;                  // .quit
    const AnswerFormat* format = nullptr;
    std::unique_ptr<AnswerWriter> writer;

    // Ends the document of the format before, if one was begun.
    void set_format(const AnswerFormat& next) {
        finish();
        format = &next;
    }
    AnswerWriter& answers() {
        if (!writer) writer = format->make(catalogue.trace(), style, sink);
        return *writer;
    }
    void finish() {
        if (writer) writer->finish();
        writer.reset();
    }
    std::int64_t max_rows() const { return limit < 0 ? format->default_limit : limit; }
};

// Runs the statements of `text`; whether rows were omitted. An unknown name is answered with the nearest one.
Result<bool> run_statements(QueryRun& run, std::string_view text);

// Runs the statements of `text`, or the dot command that it is. Ctrl-C ends it: ExitCode 130, as shells have it.
Result<ExitCode> run_sql(QueryRun& run, std::string_view text);

}  // namespace gpuprof::cli
