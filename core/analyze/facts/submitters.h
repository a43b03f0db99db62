// The host threads that submit device work. What other threads do keeps no device waiting.
#pragma once

#include <vector>

#include "core/base/ids.h"

namespace gpuprof {

class Facts;

class Submitters {
public:
    static Submitters make(const Facts& facts);
    // The one that submits most first.
    const std::vector<StringId>& threads() const { return threads_; }
    bool has(StringId thread) const { return thread != kNoString && is_one_[index_of(thread)]; }

private:
    std::vector<StringId> threads_;
    std::vector<bool> is_one_;  // by string id
};

}  // namespace gpuprof
