// Interned strings: each distinct byte sequence has one StringId, dense from 0 in order of first use.
// The bytes are in blocks that never move, so views stay valid for the life of the pool (moving the pool included).
// Any bytes are allowed, NUL too; UTF-8 is not checked here. Not thread-safe: one pool per thread, then merge.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline base {

class StringPool {
public:
    // The id of `text`, added if it is new.
    StringId intern(std::string_view text);
    // The id of `text`, or kNoString.
    StringId find(std::string_view text) const;
    // The text of an id of this pool; "" for kNoString.
    std::string_view operator[](StringId id) const;
    std::size_t size() const { return views_.size(); }
    // Bytes used by the texts, for memory accounting.
    std::size_t bytes() const { return bytes_; }
    // Removes all strings; all ids and views become invalid.
    void clear();
    // Interns every string of `other`. Returns their ids in this pool, indexed by the ids of `other`.
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

}  // namespace gpuprof::base
