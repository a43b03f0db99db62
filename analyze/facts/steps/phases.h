// What else a recording holds besides the part that is judged, or the steps: start-up, other phases of the program, an end.
#pragma once

#include <string>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct Phase {
    std::string name;  // the range that takes most of it, "steps", or what it is otherwise
    Interval span;
    double busy_pct = 0;  // of its time: devices with work, on average
};

// By time; empty if one takes nearly everything. Of a part of a recording, those of the whole must be put.
struct Phases {
    std::vector<Phase> all;
    static Phases make(const Facts& facts);
};

}  // namespace gpuprof::facts
