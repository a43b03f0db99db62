// Interned strings: each distinct byte sequence has one StringId, dense from 0 in order of first use.
// The bytes live in blocks that never move, so views stay valid for the life of the pool (moving the pool included).
// Any bytes are allowed, NUL too; nothing is checked for UTF-8 here. Not thread-safe: one pool per thread, then merge.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

class StringPool {
public:
    // The id of `text`, added when it is not there yet.
    StringId intern(std::string_view text);
    // The id of `text`, or kNoString.
    StringId find(std::string_view text) const;
    // The text of an id of this pool; "" for kNoString.
    std::string_view operator[](StringId id) const;
    std::size_t size() const { return views_.size(); }
    // Bytes held by the texts, for memory accounting.
    std::size_t bytes() const { return bytes_; }
    // Back to no strings; every id and view of it is void.
    void clear();
    // Interns every string of `other`; answers its ids in this pool, by other's index.
    std::vector<StringId> merge(const StringPool& other);

private:
    struct Slot {
        std::uint64_t hash;
        std::uint32_t id;
    };
    std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
    void rehash(std::size_t slots);
    std::string_view store(std::string_view text);

    std::vector<std::string_view> views_;
    PodVector<Slot> slots_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t block_left_ = 0;
    char* block_next_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace gpuprof
