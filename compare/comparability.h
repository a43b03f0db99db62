// Whether two recordings can be compared at all: what differs besides the program. Each difference is a sentence; another
// device makes every conclusion about the program void.
#pragma once

#include <string>
#include <vector>

#include "compare/run.h"
#include "core/model/answer.h"

namespace gpuprof::compare {

struct Comparability {
    bool same_hardware = true;  // or not known
    std::vector<Trust::Statement> statements;
};

Comparability comparability_of(const Run& base, const Run& next);

// What was recorded of one and not of the other, or another tool: "NEW has Python calls, operator shapes". Empty when they
// were recorded alike.
std::string recorders_differ(const Run& base, const Run& next);

// How much shorter a step may have been without the recorder, at most, in ns: what it explains of the waiting for the host and
// its own work. `other` was recorded with something else.
double recorder_cost(const Run& run, const Run& other);

// "NVIDIA H200, 132 multiprocessors, 140 GiB; ...": the devices with work. Empty when their names are not recorded.
std::string hardware_of(const Run& run);

}  // namespace gpuprof::compare
