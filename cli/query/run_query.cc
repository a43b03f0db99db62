#include "cli/query/run_query.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/output.h"
#include "cli/query/completion.h"
#include "cli/query/dot_commands.h"
#include "core/base/clock.h"
#include "present/query/sql_functions.h"

namespace gpuprof::inline cli {
namespace {

constexpr ExitCode kInterrupted{128 + SIGINT};

std::atomic<Sql*> running;

struct sigaction before_ctrl_c {};

// While this object exists, the first Ctrl-C ends the query; the second has its previous effect and ends the program. A
// Ctrl-C that the caller's signal mask delayed counts.
class SigintInterrupt {
public:
    explicit SigintInterrupt(Sql& sql) {
        running = &sql;
        struct sigaction action {};
        action.sa_handler = [](int) {
            sigaction(SIGINT, &before_ctrl_c, nullptr);
            if (Sql* connection = running) connection->interrupt();
        };
        sigaction(SIGINT, &action, &before_ctrl_c);
        sigset_t ctrl_c;
        sigemptyset(&ctrl_c);
        sigaddset(&ctrl_c, SIGINT);
        pthread_sigmask(SIG_UNBLOCK, &ctrl_c, &mask_before_);
    }
    ~SigintInterrupt() {
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
        sigaction(SIGINT, &before_ctrl_c, nullptr);
        running = nullptr;
    }
    SigintInterrupt(const SigintInterrupt&) = delete;
    SigintInterrupt& operator=(const SigintInterrupt&) = delete;

private:
    sigset_t mask_before_{};
};

// Names that could have been meant by an unknown one, by the kind that SQLite complains about.
struct UnknownName {
    std::string_view complaint;
    std::vector<std::string_view> (*known)(const Catalogue& catalogue, std::string_view sql);
    std::string_view list;  // the dot command that lists them
};

std::vector<std::string_view> table_names(const Catalogue& catalogue, std::string_view) {
    return names_of(catalogue.relations());
}

std::vector<std::string_view> column_names(const Catalogue& catalogue, std::string_view sql) {
    std::vector<std::string_view> names;
    for (const Relation* relation : mentioned(catalogue, sql))
        for (const FrameColumn& column : relation->shape.columns)
            if (std::find(names.begin(), names.end(), column.name) == names.end()) names.push_back(column.name);
    return names;
}

std::vector<std::string_view> function_names(const Catalogue&, std::string_view) {
    std::vector<std::string_view> names;
    for (const SqlFunction& function : sql_functions())
        names.push_back(function.synopsis.substr(0, function.synopsis.find('(')));
    return names;
}

constexpr UnknownName kUnknown[] = {{"no such table: ", table_names, ".tables"},
                                    {"no such column: ", column_names, ".schema"},
                                    {"no such function: ", function_names, ".functions"}};

Error with_suggestion(Error error, const Catalogue& catalogue, std::string_view sql) {
    for (const UnknownName& unknown : kUnknown) {
        if (error.message.rfind(unknown.complaint, 0) != 0) continue;
        std::string_view name = std::string_view(error.message).substr(unknown.complaint.size());
        name = name.substr(0, name.find(' '));
        name.remove_prefix(name.rfind('.') + 1);  // of a column with its table; npos + 1 is 0
        std::string meant = did_you_mean(name, unknown.known(catalogue, sql));
        error.message += meant.empty() ? fmt::format("; {} lists them", unknown.list) : meant;
        break;
    }
    return error;
}

Result<bool> write_answer(QueryRun& run, SqlRows& rows) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rows.columns(); ++i) names.emplace_back(rows.column(i));
    std::vector<Cell> cells(names.size());
    AnswerWriter& writer = run.answers();
    writer.begin(std::move(names));
    for (std::int64_t count = 0; !run.sink.failed(); ++count) {
        Result<bool> there = rows.next();
        if (!there.ok()) return there.error();
        bool full = (run.max_rows() > 0 && count == run.max_rows()) || (run.is_full && run.is_full());
        if (!*there || full) {
            writer.end(*there);
            return *there;
        }
        for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = rows.cell(i);
        writer.row(cells);
    }
    return false;
}

Result<bool> run_all(QueryRun& run, std::string_view text) {
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

Result<bool> run_statements(QueryRun& run, std::string_view text) {
    Result<bool> more = run_all(run, text);
    return more.ok() ? more : with_suggestion(more.error(), run.catalogue, text);
}

Result<ExitCode> run_sql(QueryRun& run, std::string_view text) {
    if (is_dot_command(text)) {
        Status done = run_dot_command(run, text);
        if (!done.ok()) return done.error();
        return ExitCode::ok;
    }
    run.sql.resume();
    SigintInterrupt ctrl_c(run.sql);
    TimeNs begin = monotonic_ns();
    Result<bool> more = run_statements(run, text);
    run.took = monotonic_ns() - begin;
    if (run.sql.interrupted()) {
        note("the query was cancelled");
        return kInterrupted;
    }
    if (!more.ok()) return more.error();
    return ExitCode::ok;
}

}  // namespace gpuprof::cli
