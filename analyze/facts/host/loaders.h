// Which ranges, operators and Python functions fetch input. A name suggests it (names_loader), and what happened inside
// confirms it: a loader launches no compute. Copies of its own batches and collectives, which agree on what to load, are no
// compute. A range "batch" around the model's own launches is no loader, whatever its name.
#pragma once

#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

class Loaders {
public:
    static Loaders make(const Facts& facts);
    // Whether spans of this name load.
    bool has(StringId name) const {
        return name != kNoString && index_of(name) < loads_.size() && loads_[index_of(name)];
    }

private:
    std::vector<bool> loads_;  // by string id; empty if no name suggests it
};

}  // namespace gpuprof::facts
