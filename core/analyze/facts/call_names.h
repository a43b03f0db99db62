// CUDA or HIP calls by the name of the function: a-1, a-2, ... in tables and findings.
#pragma once

#include <string>
#include <vector>

#include "core/analyze/facts/name_groups.h"
#include "core/analyze/facts/stat.h"

namespace gpuprof {

class Facts;

struct CallTimes {
    StringId name = kNoString;
    Stat stat;
    std::size_t threads = 0;  // that are named
};

struct CallNames {
    std::vector<CallTimes> calls;  // the longest total first, then by name
    static CallNames make(const Facts& facts);
    // "a-2"; "" when no call has the name.
    std::string handle(StringId name) const;
};

}  // namespace gpuprof
