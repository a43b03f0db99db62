// The diagnosis of a trace: the verdict, and what the rules found.
#pragma once

#include <string>
#include <vector>

#include "core/model/answer.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline answer {

struct Diagnosis {
    Verdict verdict;
    std::vector<Finding> findings;         // by cost, the largest first: f-1, f-2, ...
    std::vector<std::string> abstentions;  // rules that could not look, and why
    static Diagnosis make(const Facts& facts);
};

}  // namespace gpuprof::answer
