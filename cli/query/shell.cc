#include "cli/query/shell.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "cli/output.h"
#include "cli/query/completion.h"
#include "cli/query/dot_commands.h"
#include "cli/query/line_reader.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

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

}  // namespace

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

}  // namespace gpuprof::cli
