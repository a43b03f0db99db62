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

// The name of a function without return type, namespaces, template arguments and parameters.
std::string short_name(std::string_view name);
// A mangled C++ name as people read it; any other text as it is.
std::string demangled(std::string_view name);

}  // namespace gpuprof
