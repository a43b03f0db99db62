// malloc, realloc and free of programs with the commands: the linker's --wrap leads calls from our own code here, and
// __real_NAME is the C library's function. Until the first Spill, and for blocks that are not large, they only pass on.
#include <cstddef>

#include "core/base/spilled_blocks.h"

extern "C" {

void* __real_malloc(std::size_t bytes);
void* __real_realloc(void* block, std::size_t bytes);
void __real_free(void* block);

void* __wrap_malloc(std::size_t bytes) {
    gpuprof::SpilledBlocks* spilled = gpuprof::SpilledBlocks::used();
    return spilled == nullptr ? __real_malloc(bytes) : spilled->grow(nullptr, bytes);
}

void* __wrap_realloc(void* block, std::size_t bytes) {
    gpuprof::SpilledBlocks* spilled = gpuprof::SpilledBlocks::used();
    return spilled == nullptr ? __real_realloc(block, bytes) : spilled->grow(block, bytes);
}

void __wrap_free(void* block) {
    gpuprof::SpilledBlocks* spilled = gpuprof::SpilledBlocks::used();
    spilled == nullptr ? __real_free(block) : spilled->free(block);
}

}  // extern "C"
