// A file whose process ran out of memory, or was killed from outside, is read once more: with twice the limit if that much
// memory is free. What a file is worth is known only afterwards, and memory is short when many are read at once.
#pragma once

#include <cstdint>
#include <functional>

#include "cli/ranks/child.h"

namespace gpuprof::inline cli {

// Memory that processes could have now, in bytes, without swapping.
std::uint64_t free_memory();

// `run` starts the process with a limit in bytes, where 0 is none; `memory` is that of the first try. `free` is asked
// before a second try with a limit.
ChildEnd run_twice(const std::function<ChildEnd(std::uint64_t memory)>& run, std::uint64_t memory,
                   const std::function<std::uint64_t()>& free = free_memory);

}  // namespace gpuprof::cli
