// An allocator for containers that grow to hundreds of megabytes. Large blocks request huge pages, because touching
// memory for the first time costs more than the computation on it. Small blocks are allocated as usual.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "core/base/large_block.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline base {

template <class T>
struct LargeAllocator {
    using value_type = T;
    LargeAllocator() = default;
    template <class Other>
    LargeAllocator(const LargeAllocator<Other>&) {}

    T* allocate(std::size_t n) {
        constexpr std::size_t kLarge = std::size_t{8} << 20;
        void* block =
            n <= static_cast<std::size_t>(-1) / sizeof(T) ? grow_large_block(nullptr, n * sizeof(T)) : nullptr;
        if (block == nullptr) throw std::bad_alloc();
        if (n * sizeof(T) >= kLarge) advise_huge_pages(block, n * sizeof(T));
        return static_cast<T*>(block);
    }
    void deallocate(T* block, std::size_t) { free_large_block(block); }
    friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

}  // namespace gpuprof::base
