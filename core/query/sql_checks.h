// For each analysis the SQL that would check it: from the tables of the recording to figures of the analysis. A test runs them all
// over real recordings. `.schema ANALYSIS` shows them.
#pragma once

#include <span>
#include <string_view>

namespace gpuprof {

struct SqlCheck {
    std::string_view analysis;
    std::string_view sql;  // "": SQL cannot say it; `why` says what stands in the way
    std::string_view of;   // the same figures out of the analysis; "": its columns of the same names
    std::string_view why;
};

std::span<const SqlCheck> sql_checks();
// Of an analysis that exists; null when the list lacks it.
const SqlCheck* sql_check(std::string_view analysis);

}  // namespace gpuprof
