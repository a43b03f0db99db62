// A growing array of trivially copyable values, based on realloc. Traces hold hundreds of millions of column values:
// realloc lets the system move pages instead of copying them, untouched capacity costs no memory, and values are not
// zeroed before they are written. Large arrays request huge pages: touching gigabytes for the first time costs more
// than computing their contents. Not for types with constructors. Out of memory: std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/base/large_block.h"

namespace gpuprof::inline base {

// In builds with sanitizers, a value behind the last one ends the program, also where there is memory.
[[gnu::always_inline]] inline void check_index([[maybe_unused]] std::size_t i, [[maybe_unused]] std::size_t size) {
#ifdef GPUPROF_CHECK_INDICES
    if (i >= size) __builtin_trap();
#endif
}

// Asks the system to back the whole pages of a range with huge pages; no effect if it does not support them.
void advise_huge_pages(void* begin, std::size_t bytes);

template <class T>
class PodVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    PodVector() = default;
    explicit PodVector(std::size_t n) { resize(n); }
    PodVector(std::size_t n, T value) { resize(n, value); }
    PodVector(const PodVector& other) { append(other.data(), other.size()); }
    PodVector(PodVector&& other) noexcept { swap(other); }
    PodVector& operator=(PodVector other) noexcept {
        swap(other);
        return *this;
    }
    ~PodVector() {
        if (data_ != nullptr) free_large_block(data_);  // most columns of a batch are empty
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) {
        check_index(i, size_);
        return data_[i];
    }
    const T& operator[](std::size_t i) const {
        check_index(i, size_);
        return data_[i];
    }
    T& back() { return (*this)[size_ - 1]; }
    const T& back() const { return (*this)[size_ - 1]; }

    [[gnu::always_inline]] void push_back(T value) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = value;
    }
    // Grows by uninitialised values, which the caller writes.
    void resize(std::size_t n) {
        if (n > capacity_) grow(n);
        size_ = n;
    }
    void resize(std::size_t n, T value) {
        std::size_t old = size_;
        resize(n);
        for (std::size_t i = old; i < n; ++i) data_[i] = value;
    }
    void append(const T* values, std::size_t n) {
        if (n == 0) return;
        std::size_t old = size_;
        resize(old + n);
        std::memcpy(static_cast<void*>(data_ + old), values, n * sizeof(T));
    }
    void reserve(std::size_t n) {
        if (n > capacity_) reallocate(n);
    }
    void clear() { size_ = 0; }
    void swap(PodVector& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

private:
    static constexpr std::size_t kLargeBytes = std::size_t{8} << 20;

    void grow(std::size_t need) {
        std::size_t next = capacity_ + capacity_ / 2 + 16;
        reallocate(next > need ? next : need);
    }
    void reallocate(std::size_t n) {
        void* moved = n <= static_cast<std::size_t>(-1) / sizeof(T)
                          ? grow_large_block(static_cast<void*>(data_), n * sizeof(T))
                          : nullptr;
        if (moved == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = n;
        if (n * sizeof(T) >= kLargeBytes) advise_huge_pages(moved, n * sizeof(T));
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace gpuprof::base
