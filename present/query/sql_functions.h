// The SQL functions in addition to SQLite's own. functions() lists them, also for the documentation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "present/query/aggregates.h"

struct sqlite3;

namespace gpuprof::inline query {

struct SqlFunction {
    std::string_view synopsis;  // "overlap(start, end, start, end)"
    std::string_view doc;
};

std::span<const SqlFunction> sql_functions();
// `budget` must outlive the connection.
Status add_functions(sqlite3* database, AggregateBudget& budget);

}  // namespace gpuprof::query
