// What could be said to limit a run: each explanation with the time it accounts for. They compete for the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof {

struct Explanation {
    Limit limit;
    DurNs time;                       // of the window, all devices
    std::optional<DurNs> gives_back;  // recoverable part; absent: unknown
    std::string because;
};

// The largest first. Times of explanations do not overlap.
std::vector<Explanation> explanations(const Facts& facts);

}  // namespace gpuprof
