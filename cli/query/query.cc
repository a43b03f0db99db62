// `query`: SQL over a recording. It runs the SQL on the command line; otherwise it reads SQL from standard input, in a
// shell if that is a terminal. SQLite reads the columns in place, without a copy of the recording (present/query).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/query/run_query.h"
#include "cli/query/shell.h"
#include "cli/terminal.h"
#include "core/model/select_interval.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
namespace {

struct QueryArguments {
    std::string file;
    std::vector<std::string> words;  // further recordings, then the SQL
    std::vector<std::string> files;
    std::string sql;
    std::string format = "text";
    std::string output = "-";
    std::int64_t limit = -1;  // -1: the default of the format
    double time_out = 0;
    Options options;
    ReadLimits limits;
};

Result<std::string> read_standard_input() {
    constexpr std::size_t kMaxBytes = 1 << 20;
    std::string text;
    char piece[4096];
    while (ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece)) {
        if (got < 0) return Error{ExitCode::unreadable, "cannot read standard input"};
        text.append(piece, static_cast<std::size_t>(got));
        if (text.size() > kMaxBytes)
            return Error{ExitCode::usage, "cannot run the SQL on standard input: it exceeds 1 MiB"};
    }
    return text;
}

Result<ExitCode> answer(QueryRun& run, const QueryArguments& arguments) {
    if (!arguments.sql.empty()) return run_script(run, arguments.sql);
    if (isatty(STDIN_FILENO) == 1) return run_shell(run);
    Result<std::string> text = read_standard_input();
    if (!text.ok()) return text.error();
    return run_script(run, std::move(text).value());
}

// Existing paths are recordings; a last word that is not a path is SQL.
Result<QueryArguments> sorted_words(QueryArguments arguments) {
    std::vector<std::string> words = std::move(arguments.words);
    if (!words.empty() && !is_path(words.back())) {
        arguments.sql = std::move(words.back());
        words.pop_back();
    }
    for (const std::string& word : words)
        if (!is_path(word))
            return Error{
                ExitCode::usage,
                fmt::format("cannot read '{}': no such file; quote the SQL as one argument and put it last", word)};
    arguments.files = {arguments.file};
    arguments.files.insert(arguments.files.end(), words.begin(), words.end());
    return arguments;
}

Result<ExitCode> run_query(const QueryArguments& given) {
    Result<QueryArguments> sorted = sorted_words(given);
    if (!sorted.ok()) return sorted.error();
    const QueryArguments& arguments = *sorted;
    const AnswerFormat* format = find_answer_format(arguments.format);
    if (format == nullptr) return unknown_choice("format", arguments.format, names_of(answer_formats()));
    bool from_input = std::find(arguments.files.begin(), arguments.files.end(), "-") != arguments.files.end();
    if (from_input && arguments.sql.empty())
        return Error{ExitCode::usage, "the recording is read from standard input; pass the SQL as an argument"};
    if (Status free = check_output(arguments.output, arguments.files); !free.ok()) return free.error();
    Progress progress;
    Result<Trace> opened = open_trace(arguments.files, arguments.limits);
    if (!opened.ok()) return opened.error();
    note_damage(*opened);
    Trace trace = rebase_to_start(std::move(opened).value());
    Catalogue catalogue(trace, arguments.options);
    limit_sql_memory();
    Result<std::unique_ptr<Sql>> sql = Sql::open(catalogue);
    if (!sql.ok()) return sql.error();
    Result<Output> output = Output::open(arguments.output);
    if (!output.ok()) return output.error();
    Style style = style_for(arguments.output);
    QueryRun run{.catalogue = catalogue,
                 .sql = **sql,
                 .sink = *output,
                 .style = style,
                 .limit = arguments.limit,
                 .time_out_s = arguments.time_out,
                 .format = format,
                 .writer = nullptr};
    Result<ExitCode> done = answer(run, arguments);
    if (done.ok()) run.finish();
    output->flush();
    bool whole = done.ok() && *done == ExitCode::ok;
    if (Status closed = whole || output->failed() ? output->close() : Status(); !closed.ok()) return closed.error();
    return done;
}

std::function<Result<ExitCode>()> declare_query(CommandLine& line) {
    auto arguments = std::make_shared<QueryArguments>();
    line.option("FILE", arguments->file, kRecordingDoc).required().value("");
    line.option("SQL", arguments->words,
                "SQL statements, or .tables, .schema [TABLE], .functions (default: read standard input; a shell on a "
                "terminal). "
                "Existing files before it are further recordings of the job.")
        .value("");
    line.option("--format", arguments->format, "Output format: text, csv or json (default: text).").value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_options(line, arguments->options);
    declare_read_limits(line, arguments->limits);
    line.remove("--limit");  // replaces the --limit of analyses: here it limits the rows of an answer
    line.option("--limit", arguments->limit,
                "Maximum rows per answer; 0 shows all (default: 1000 as text, otherwise all).")
        .integer_range(0, 1'000'000'000'000)
        .value("N");
    line.option("--time-out", arguments->time_out, "Timeout in seconds; 0 is none (default: 0).")
        .seconds(0, 1e6)
        .value("S");
    return [arguments] { return run_query(*arguments); };
}

}  // namespace

extern const Command kQueryCommand;
const Command kQueryCommand{
    "query",         "Analyse recordings",
    "FILE... [SQL]", "Run SQL over all tables and analyses of a recording.",
    declare_query,   [] {
        return std::vector<Choices>{{"--format", names_of(answer_formats())}}; }};

}  // namespace gpuprof::cli
