// Memory that any thread takes without a lock and that is never freed, because it may be read as long as the process lives.
// Constant-initialised; fresh memory is zero.
#pragma once

#include <atomic>
#include <cstddef>

namespace gpuprof::inject {

class Arena {
public:
    static constexpr std::size_t kBlockBytes = std::size_t{64} << 10, kMaxBytes = kBlockBytes - 16;

    // `bytes` is a multiple of 8. Null: more than kMaxBytes, or no memory.
    void* room(std::size_t bytes) noexcept;

private:
    struct Block {
        std::atomic<std::size_t> used;
        alignas(8) char bytes[kMaxBytes];
    };
    static_assert(sizeof(Block) <= kBlockBytes);

    std::atomic<Block*> block_{nullptr};
};

}  // namespace gpuprof::inject
