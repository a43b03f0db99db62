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

// "NVIDIA H200, 132 multiprocessors, 140 GiB; ...": the devices with work. Empty when their names are not recorded.
std::string hardware_of(const Run& run);

}  // namespace gpuprof::compare
