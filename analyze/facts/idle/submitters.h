// The host threads that submit device work. Only these can keep a device waiting.
#pragma once

#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

class Submitters {
public:
    static Submitters make(const Facts& facts);
    // Thread with the most submissions first.
    const std::vector<StringId>& threads() const { return threads_; }
    bool has(StringId thread) const { return thread != kNoString && is_one_[index_of(thread)]; }

private:
    std::vector<StringId> threads_;
    std::vector<bool> is_one_;  // by string id
};

}  // namespace gpuprof::facts
