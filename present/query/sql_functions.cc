#include "present/query/sql_functions.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "core/base/text/function_name.h"
#include "core/base/text/pattern.h"

namespace gpuprof::inline query {
namespace {

constexpr SqlFunction kFunctions[] = {
    {"overlap(start, end, start, end)", "Length of the overlap of two spans, in their unit; 0 without overlap."},
    {"busy(start, end)", "Aggregate: length of the union of the spans; time covered by several spans counts once."},
    {"percentile(value, p)",
     "Aggregate: the p-th percentile (0 < p <= 100) by nearest rank, as in analyses: always one of the values."},
    {"median(value)", "Aggregate: percentile(value, 50)."},
    {"stddev(value)", "Aggregate: population standard deviation; null without values."},
    {"text REGEXP pattern",
     "Whether the text, of up to 256 KiB, contains a match of a POSIX extended regular expression; (?i) at its start "
     "ignores case."},
    {"demangle(text)", "Demangles a C++ name; returns any other text, and a name of more than 64 KiB, unchanged."},
    {"short_name(text)",
     "A function's name without return type, namespaces, template arguments and parameters; demangles it if needed."},
};

// So that no single match takes seconds, which nothing could interrupt.
constexpr std::size_t kMaxMatched = std::size_t{256} << 10;

bool any_null(int count, sqlite3_value** values) {
    return std::any_of(values, values + count, [](sqlite3_value* v) { return sqlite3_value_type(v) == SQLITE_NULL; });
}

void overlap(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    sqlite3_int64 start = std::max(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[2]));
    sqlite3_int64 end = std::min(sqlite3_value_int64(values[1]), sqlite3_value_int64(values[3]));
    sqlite3_int64 length = 0;
    if (start < end && __builtin_sub_overflow(end, start, &length))
        return sqlite3_result_error(context, "overlap: the spans are too long", -1);
    sqlite3_result_int64(context, length);
}

// Compiled once per statement if the pattern is constant.
const Pattern* pattern_of(sqlite3_context* context, sqlite3_value* value, std::unique_ptr<Pattern>& own) {
    if (auto* known = static_cast<Pattern*>(sqlite3_get_auxdata(context, 0))) return known;
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    if (text == nullptr) return sqlite3_result_error_nomem(context), nullptr;
    Result<Pattern> pattern = Pattern::compile(text);
    if (!pattern.ok()) {
        sqlite3_result_error(context, ("REGEXP: " + pattern.error().message).c_str(), -1);
        return nullptr;
    }
    own = std::make_unique<Pattern>(std::move(pattern).value());
    return own.get();
}

// `text REGEXP pattern` calls regexp(pattern, text).
void regexp(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    try {
        std::unique_ptr<Pattern> own;
        const Pattern* pattern = pattern_of(context, values[0], own);
        if (pattern == nullptr) return;
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
        if (text == nullptr) return sqlite3_result_error_nomem(context);
        auto bytes = static_cast<std::size_t>(sqlite3_value_bytes(values[1]));
        if (bytes > kMaxMatched) return sqlite3_result_error(context, "REGEXP: the text exceeds 256 KiB", -1);
        sqlite3_result_int(context, pattern->matches({text, bytes}));
        if (own) sqlite3_set_auxdata(context, 0, own.release(), [](void* kept) { delete static_cast<Pattern*>(kept); });
    } catch (...) {
        result_of_exception(context);
    }
}

template <std::string (*Change)(std::string_view)>
void change_text(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    try {
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
        if (text == nullptr) return sqlite3_result_error_nomem(context);
        std::string changed = Change({text, static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
        sqlite3_result_text64(context, changed.data(), changed.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } catch (...) {
        result_of_exception(context);
    }
}

constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

}  // namespace

std::span<const SqlFunction> sql_functions() { return kFunctions; }

Status add_functions(sqlite3* database, AggregateBudget& budget) {
    auto scalar = [&](const char* name, int count, void (*run)(sqlite3_context*, int, sqlite3_value**)) {
        return sqlite3_create_function_v2(database, name, count, kPure, nullptr, run, nullptr, nullptr, nullptr);
    };
    auto aggregate = [&](const char* name, int count, const Aggregate& run) {
        return sqlite3_create_function_v2(database, name, count, kPure, &budget, nullptr, run.step, run.final, nullptr);
    };
    int codes[] = {scalar("overlap", 4, overlap),
                   scalar("regexp", 2, regexp),
                   scalar("demangle", 1, change_text<demangled>),
                   scalar("short_name", 1, change_text<short_name>),
                   aggregate("busy", 2, kBusy),
                   aggregate("percentile", 2, kPercentile),
                   aggregate("median", 1, kPercentile),
                   aggregate("stddev", 1, kStddev)};
    for (int code : codes)
        if (code != SQLITE_OK)
            return Error{ExitCode::internal, fmt::format("cannot register SQL functions: {}", sqlite3_errstr(code))};
    return {};
}

}  // namespace gpuprof::query
