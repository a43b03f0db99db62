// Whether a recording contains enough work to judge it.
#pragma once

#include <string>

namespace gpuprof::inline facts {

class Facts;

struct Sufficiency {
    std::string insufficient_because;     // a sentence; "" if it does
    std::string idle_unreliable_because;  // why idle time is not meaningful; "" if it is
    static Sufficiency make(const Facts& facts);
};

}  // namespace gpuprof::facts
