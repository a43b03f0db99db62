// Memory of the collector, which cannot throw: a buffer of one thread, and an arena of all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace gpuprof::inject {

// A growing byte buffer: if memory runs out it stays unchanged and reports it.
class Scratch {
public:
    ~Scratch() { std::free(bytes_); }
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void clear() noexcept { size_ = 0; }
    std::size_t size() const noexcept { return size_; }
    // Removes what follows the first `size` bytes.
    void cut(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }
    std::string_view view() const noexcept { return {bytes_, size_}; }

    bool add(const void* bytes, std::size_t size) noexcept {
        if (!room(size)) return false;
        if (size > 0) std::memcpy(bytes_ + size_, bytes, size);
        size_ += size;
        return true;
    }
    template <class T>
    bool add(T value) noexcept {
        static_assert(std::is_trivially_copyable_v<T>);
        return add(&value, sizeof value);
    }
    // u32 length, then the bytes.
    bool add_text(std::string_view text) noexcept {
        std::size_t before = size_;
        if (add(static_cast<unsigned>(text.size())) && add(text.data(), text.size())) return true;
        size_ = before;
        return false;
    }
    // Two texts: a key and its value.
    void add_entry(std::string_view key, std::string_view value) noexcept {
        add_text(key);
        add_text(value);
    }

private:
    bool room(std::size_t more) noexcept {
        if (size_ + more <= capacity_) return true;
        std::size_t wanted = (size_ + more) * 2;
        void* grown = std::realloc(bytes_, wanted);
        if (grown == nullptr) return false;
        bytes_ = static_cast<char*>(grown);
        capacity_ = wanted;
        return true;
    }
    char* bytes_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

// Memory that any thread takes without a lock and that is never freed, because it may be read as long as the process lives.
// Constant-initialised; fresh memory is zero.
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
