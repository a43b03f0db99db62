// Whether a recording contains enough work to judge it.
#pragma once

#include <string>

namespace gpuprof {

class Facts;

struct Judgeable {
    std::string why_not;       // a sentence; "" if it does
    std::string idle_why_not;  // why idle time is not meaningful; "" if it is
    static Judgeable make(const Facts& facts);
};

}  // namespace gpuprof
