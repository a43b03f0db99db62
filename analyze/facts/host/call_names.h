// CUDA or HIP calls by function name: a-1, a-2, ... in tables and findings.
#pragma once

#include <string>
#include <vector>

#include "analyze/facts/host/name_groups.h"
#include "analyze/facts/stat.h"

namespace gpuprof::inline model {
class Trace;
struct ApiCallTable;
struct OsCallTable;
}  // namespace gpuprof::model

namespace gpuprof::inline facts {

class Facts;

struct CallTimes {
    StringId name = kNoString;
    Stat stat;
    std::size_t threads = 0;  // named threads only
};

// One entry per function: longest total first, then by name.
std::vector<CallTimes> calls_by_name(const Trace& trace, const ApiCallTable& calls);
std::vector<CallTimes> calls_by_name(const Trace& trace, const OsCallTable& calls);

struct CallNames {
    std::vector<CallTimes> calls;
    static CallNames make(const Facts& facts);
    // "a-2"; "" if no call has the name.
    std::string handle(StringId name) const;
};

}  // namespace gpuprof::facts
