// For each analysis, SQL that checks it: a query over the tables of the recording that yields figures of the analysis.
// A test runs all of them on real recordings. `.schema ANALYSIS` shows them.
#pragma once

#include <span>
#include <string_view>

namespace gpuprof::inline query {

struct SqlCheck {
    std::string_view analysis;
    std::string_view sql;  // "": not expressible in SQL; `why` gives the reason
    std::string_view of;   // the same figures from the analysis; "": its columns with the same names
    std::string_view why;
};

std::span<const SqlCheck> sql_checks();
// The check of an existing analysis; null if it has none.
const SqlCheck* sql_check(std::string_view analysis);

}  // namespace gpuprof::query
