#include "core/base/string_pool.h"

#include <cstring>
#include <functional>

namespace gpuprof::inline base {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::uint32_t kFree = 0xFFFFFFFFu;

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

}  // namespace

StringId StringPool::intern(std::string_view text) {
    std::uint64_t hash = hash_of(text);
    if ((views_.size() + 1) * 2 > slots_.size()) rehash(slots_.empty() ? 64 : slots_.size() * 2);
    Slot& slot = slots_[slot_of(text, hash)];
    if (slot.id == kFree) {
        slot = {hash, static_cast<std::uint32_t>(views_.size())};
        views_.push_back(store(text));
    }
    return StringId{slot.id};
}

StringId StringPool::find(std::string_view text) const {
    if (slots_.empty()) return kNoString;
    return StringId{slots_[slot_of(text, hash_of(text))].id};
}

std::string_view StringPool::operator[](StringId id) const {
    return id == kNoString ? std::string_view{} : views_[index_of(id)];
}

std::vector<StringId> StringPool::merge(const StringPool& other) {
    std::vector<StringId> ids;
    ids.reserve(other.size());
    for (std::string_view text : other.views_) ids.push_back(intern(text));
    return ids;
}

void StringPool::clear() {
    views_.clear();
    for (Slot& slot : slots_) slot.id = kFree;
    blocks_.clear();
    block_left_ = bytes_ = 0;
}

// Linear probing in a power-of-two table: the slot that contains `text`, or the free slot for it.
std::size_t StringPool::slot_of(std::string_view text, std::uint64_t hash) const {
    std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        const Slot& slot = slots_[i];
        if (slot.id == kFree || (slot.hash == hash && views_[slot.id] == text)) return i;
    }
}

void StringPool::rehash(std::size_t slots) {
    PodVector<Slot> old;
    old.swap(slots_);
    slots_.resize(slots, Slot{0, kFree});
    for (const Slot& slot : old) {
        if (slot.id == kFree) continue;
        std::size_t i = slot.hash & (slots - 1);
        while (slots_[i].id != kFree) i = (i + 1) & (slots - 1);
        slots_[i] = slot;
    }
}

std::string_view StringPool::store(std::string_view text) {
    if (text.size() > block_left_) {
        std::size_t size = text.size() > kBlockBytes ? text.size() : kBlockBytes;
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
        block_next_ = blocks_.back().get();
        block_left_ = size;
    }
    char* at = block_next_;
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    block_next_ += text.size();
    block_left_ -= text.size();
    bytes_ += text.size();
    return {at, text.size()};
}

}  // namespace gpuprof::base
