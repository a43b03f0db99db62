// Ranks that recorded other steps than most: their recordings began or ended elsewhere. Only steps that all ranks have
// can be compared, so one such rank costs the job the steps that it lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"

namespace gpuprof::inline ranks {

struct OtherSteps {
    std::int32_t rank = 0;
    std::string text;  // "steps 14-29; most ranks recorded 10-29"
};

struct StepsOfRanks {
    std::vector<OtherSteps> others;  // by rank; not those whose file is cut, unless they have steps that most lack

    static StepsOfRanks make(const Facts& facts);
};

}  // namespace gpuprof::ranks
