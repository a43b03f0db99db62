// Whether there is enough in a recording to judge it by.
#pragma once

#include <string>

namespace gpuprof {

class Facts;

struct Judgeable {
    std::string why_not;       // a sentence; "" when there is
    std::string idle_why_not;  // why idle time says nothing; "" when it does
    static Judgeable make(const Facts& facts);
};

}  // namespace gpuprof
