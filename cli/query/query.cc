// `query`: SQL over a recording. It runs the SQL on the command line; otherwise it reads SQL from standard input, in a
// shell if that is a terminal. SQLite reads the columns in place, without a copy of the recording (present/query).
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "analyze/tables/option_checks.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/query/completion.h"
#include "cli/query/dot_commands.h"
#include "cli/query/line_reader.h"
#include "cli/query/run_query.h"
#include "cli/terminal.h"
#include "core/base/text/readable.h"
#include "core/model/select_interval.h"
#include "io/importers/open_trace.h"
#include "present/answer/analyses.h"

namespace gpuprof::inline cli {
namespace {

// A session of `query` that reads entries: SQL statements up to a semicolon, or dot commands.

using Ending = LineReader::Ending;

// Reads lines up to a semicolon, or one dot command. `ending` is `line` for an entry, including one cut short by the
// end of the input.
LineReader::Line read_entry(LineReader& reader) {
    std::string entry;
    auto finished = [&] {
        entry.erase(entry.find_last_not_of(" \t\r\n") + 1);
        return LineReader::Line{Ending::line, std::move(entry)};
    };
    while (true) {
        LineReader::Line line = reader.read(entry.empty() ? "gpu-profile> " : "        ...> ", entry);
        if (line.ending == Ending::end_of_input && !entry.empty()) return finished();
        if (line.ending != Ending::line) return line;
        if (entry.empty() && line.text.find_first_not_of(" \t\r") == std::string::npos) continue;
        entry += line.text;
        if (is_dot_command(entry) || is_complete_sql(entry)) {
            reader.remember(entry);
            return finished();
        }
        entry += '\n';
    }
}

// Ctrl-C interrupts reading and queries; at any other time it waits instead of ending the shell.
class SigintBlocker {
public:
    SigintBlocker() {
        sigset_t ctrl_c;
        sigemptyset(&ctrl_c);
        sigaddset(&ctrl_c, SIGINT);
        pthread_sigmask(SIG_BLOCK, &ctrl_c, &before_);
    }
    ~SigintBlocker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SigintBlocker(const SigintBlocker&) = delete;
    SigintBlocker& operator=(const SigintBlocker&) = delete;

private:
    sigset_t before_{};
};

std::string late;  // what the end of a program says that could not end its query

// The time limit of a script or an entry. A query that is late ends by itself, except inside a single call of a function, which nothing
// can interrupt: a second later the program ends.
class TimeOut {
public:
    explicit TimeOut(QueryRun& run) {
        run.sql.limit_time(std::chrono::nanoseconds(static_cast<std::int64_t>(run.time_out_s * 1e9)));
        if (run.time_out_s == 0) return;
        late = fmt::format("gpu-profile: {}\n", late_query(run.time_out_s).message);
        struct sigaction action {};
        action.sa_handler = [](int) {
            [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, late.data(), late.size());
            ::_exit(static_cast<int>(ExitCode::usage));
        };
        sigaction(SIGALRM, &action, nullptr);
        set(run.time_out_s + 1);
    }
    ~TimeOut() { set(0); }
    TimeOut(const TimeOut&) = delete;
    TimeOut& operator=(const TimeOut&) = delete;

private:
    static void set(double seconds) {
        double whole = std::floor(seconds);
        itimerval once{{0, 0}, {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6)}};
        setitimer(ITIMER_REAL, &once, nullptr);
    }
};

// An entry and, if .timer is on, the time that it took.
Result<ExitCode> run_entry(QueryRun& run, const std::string& entry, bool last_of_document) {
    Result<ExitCode> done = run_sql(run, entry);
    if (last_of_document) run.finish();
    run.sink.flush();
    if (run.timer && !is_dot_command(entry)) note(readable_duration(run.took));
    return done;
}

// Interactive: until .quit or the end of input. Errors and Ctrl-C end an entry, not the session.
Result<ExitCode> run_shell(QueryRun& run) {
    SigintBlocker shell_lives;
    std::unique_ptr<LineReader> reader =
        open_terminal("query_history", [&](std::string_view text) { return complete_sql(run.catalogue, text); });
    run.sink.write(fmt::format("SQL over {}; Tab completes, .help lists commands, .quit leaves\n",
                               run.catalogue.trace().origin().file));
    run.sink.flush();
    while (!run.ended && !run.sink.failed()) {
        LineReader::Line entry = read_entry(*reader);
        if (entry.ending == Ending::end_of_input) break;
        if (entry.ending == Ending::interrupted) continue;
        TimeOut limit(run);
        Result<ExitCode> done = run_entry(run, entry.text, true);
        if (!done.ok()) note(done.error().message);
    }
    return ExitCode::ok;
}

// Runs all entries of a text; the first error ends it. Statements need no semicolon at the end of the text.
Result<ExitCode> run_script(QueryRun& run, std::string text) {
    std::unique_ptr<LineReader> reader = read_text(std::move(text));
    TimeOut limit(run);
    while (!run.ended && !run.sink.failed()) {
        LineReader::Line entry = read_entry(*reader);
        if (entry.ending != Ending::line) break;
        Result<ExitCode> done = run_entry(run, entry.text, false);
        if (!done.ok() || *done != ExitCode::ok) return done;
    }
    run.answers();  // a JSON document is complete without any rows
    return ExitCode::ok;
}

struct QueryArguments {
    std::string file;
    std::vector<std::string> words;  // further recordings, then the SQL
    std::vector<std::string> files;
    std::string sql;
    std::string format = "text";
    std::string output = "-";
    std::int64_t limit = -1;  // -1: the default of the format
    double time_out = 0;
    bool whole = false;
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

// Which analyses a query runs is known only when it has run.
Status check_heard(const Options& options, const Catalogue& catalogue) {
    std::vector<const Analysis*> ran;
    for (const Relation& relation : catalogue.relations())
        if (relation.analysis != nullptr && relation.answer) ran.push_back(relation.analysis);
    return check_options(options, ran, analyses());
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
    if (Status known = check_names(*opened, arguments.options); !known) return known.error();
    note_damage(*opened);
    Trace trace = rebase_to_start(std::move(opened).value());
    Catalogue catalogue(trace, arguments.options, arguments.whole);
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
    if (done.ok() && *done == ExitCode::ok && (!arguments.sql.empty() || isatty(STDIN_FILENO) == 0))
        if (Status heard = check_heard(arguments.options, catalogue); !heard) done = heard.error();
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
    line.option("--format", arguments->format, "Output format: text, csv or json (default: text).")
        .suggest(names_of(answer_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    line.flag("--whole", arguments->whole,
              "Let analyses cover the whole recording with start-up, not only the part with most work.");
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
const Command kQueryCommand{"query", "Analyse recordings", "FILE... [SQL]",
                            "Run SQL over all tables and analyses of a recording.", declare_query};

}  // namespace gpuprof::cli
