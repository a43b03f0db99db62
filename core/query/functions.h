// The functions that SQL has here beside SQLite's own. functions() is the list, for the documentation too.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct sqlite3;

namespace gpuprof {

struct SqlFunction {
    std::string_view synopsis;  // "overlap(start, end, start, end)"
    std::string_view doc;
};

std::span<const SqlFunction> sql_functions();
Status add_functions(sqlite3* database);

}  // namespace gpuprof
