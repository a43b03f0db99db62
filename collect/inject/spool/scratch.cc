#include "collect/inject/spool/scratch.h"

#include <sys/mman.h>

namespace gpuprof::inject {

void* Arena::room(std::size_t bytes) noexcept {
    if (bytes > kMaxBytes) return nullptr;
    for (;;) {
        Block* block = block_.load(std::memory_order_acquire);
        if (block != nullptr) {
            std::size_t at = block->used.fetch_add(bytes, std::memory_order_relaxed);
            if (at + bytes <= sizeof block->bytes) return block->bytes + at;
        }
        void* memory = mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        if (!block_.compare_exchange_strong(block, static_cast<Block*>(memory), std::memory_order_acq_rel))
            munmap(memory, sizeof(Block));
    }
}

}  // namespace gpuprof::inject
