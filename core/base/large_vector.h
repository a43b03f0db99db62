// A vector that may grow to hundreds of megabytes, in blocks of its own kind (core/base/large_allocator.h).
#pragma once

#include <vector>

#include "core/base/large_allocator.h"

namespace gpuprof::inline base {

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace gpuprof::base
