#include "cli/query/run.h"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/output.h"
#include "cli/query/schema.h"

namespace gpuprof {
namespace {

constexpr ExitCode kInterrupted{128 + SIGINT};

std::atomic<Sql*> running;

struct sigaction before_ctrl_c {};

// During its lifetime, the first Ctrl-C ends the query and a second one the program.
class CtrlC {
public:
    explicit CtrlC(Sql& sql) {
        running = &sql;
        struct sigaction action {};
        action.sa_handler = [](int) {
            sigaction(SIGINT, &before_ctrl_c, nullptr);
            if (Sql* connection = running) connection->interrupt();
        };
        sigaction(SIGINT, &action, &before_ctrl_c);
    }
    ~CtrlC() {
        sigaction(SIGINT, &before_ctrl_c, nullptr);
        running = nullptr;
    }
    CtrlC(const CtrlC&) = delete;
    CtrlC& operator=(const CtrlC&) = delete;
};

// Suggests tables for a misspelt name.
Error with_suggestion(Error error, const Catalogue& catalogue) {
    constexpr std::string_view kNoTable = "no such table: ";
    if (error.message.rfind(kNoTable, 0) != 0) return error;
    std::string_view name = std::string_view(error.message).substr(kNoTable.size());
    name = name.substr(0, name.find(' '));
    std::vector<std::string_view> known;
    for (const Relation& relation : catalogue.relations()) known.push_back(relation.name);
    std::string meant = did_you_mean(name, known);
    error.message += meant.empty() ? "; .tables lists them" : meant;
    return error;
}

Result<bool> write_answer(QueryRun& run, SqlRows& rows) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rows.columns(); ++i) names.emplace_back(rows.column(i));
    std::vector<Cell> cells(names.size());
    run.writer.begin(std::move(names));
    for (std::int64_t count = 0; !run.sink.failed(); ++count) {
        Result<bool> there = rows.next();
        if (!there.ok()) return there.error();
        bool full = run.limit > 0 && count == run.limit;
        if (!*there || full) {
            run.writer.end(*there);
            return *there;
        }
        for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = rows.cell(i);
        run.writer.row(cells);
    }
    return false;
}

Result<bool> run_statements(QueryRun& run, std::string_view text) {
    bool more = false;
    while (true) {
        Result<std::optional<SqlRows>> rows = run.sql.prepare(text);
        if (!rows.ok()) return rows.error();
        if (!*rows) return more;
        Result<bool> left = write_answer(run, **rows);
        if (!left.ok()) return left.error();
        more |= *left;
    }
}

}  // namespace

Result<ExitCode> run_sql(QueryRun& run, std::string_view text) {
    if (is_dot_command(text)) {
        Status done = run_dot_command(run.catalogue, text, run.style, run.sink);
        if (!done.ok()) return done.error();
        return ExitCode::ok;
    }
    CtrlC ctrl_c(run.sql);
    run.sql.resume();
    run.sql.limit_time(std::chrono::nanoseconds(static_cast<std::int64_t>(run.time_out_s * 1e9)));
    Result<bool> more = run_statements(run, text);
    if (run.sql.interrupted()) {
        note("the query was cancelled");
        return kInterrupted;
    }
    if (!more.ok()) return with_suggestion(more.error(), run.catalogue);
    return ExitCode::ok;
}

}  // namespace gpuprof
