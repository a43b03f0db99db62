// realloc and free for arrays that may become large (PodVector, LargeVector): the C library's, until a process begins to
// spill such blocks to files (core/base/files/spill.h).
#pragma once

#include <cstddef>

namespace gpuprof::inline base {

// Null: out of memory, and the block is as before.
void* grow_large_block(void* block, std::size_t bytes);
void free_large_block(void* block);

}  // namespace gpuprof::base
