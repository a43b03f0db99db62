// Maps ids to array indices: key strings to dense slots, and recorder ids to values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/column.h"

namespace gpuprof::inline facts {

// Distinct strings of a key column (threads, processes), numbered in row order. Unknown and absent strings share the
// last slot.
class Slots {
public:
    Slots(const Column<StringId>& keys, std::size_t strings) : slot_(strings, kOther) {
        for (Row row = 0; row < keys.size(); ++row)
            if (keys.has(row) && slot_[index_of(keys[row])] == kOther) {
                slot_[index_of(keys[row])] = static_cast<std::uint32_t>(keys_.size());
                keys_.push_back(keys[row]);
            }
        keys_.push_back(kNoString);
    }
    std::size_t size() const { return keys_.size(); }
    std::uint32_t other() const { return static_cast<std::uint32_t>(keys_.size() - 1); }
    StringId key(std::uint32_t slot) const { return keys_[slot]; }
    std::uint32_t of(StringId id) const {
        if (index_of(id) >= slot_.size() || slot_[index_of(id)] == kOther) return other();
        return slot_[index_of(id)];
    }

private:
    static constexpr std::uint32_t kOther = 0xFFFFFFFFu;
    std::vector<std::uint32_t> slot_;  // by string
    std::vector<StringId> keys_;
};

// Values by recorder id (correlation, external id). Recorders number densely, so a flat array suffices; sparse ids fall
// back to a hash map. Usage: note() every id, prepare(), then set and find.
template <class T>
class IdMap {
public:
    void note(std::int64_t id) {
        lowest_ = std::min(lowest_, id);
        highest_ = std::max(highest_, id);
        ++count_;
    }
    void prepare(T none) {
        none_ = none;
        if (count_ == 0) return;
        auto span = static_cast<std::uint64_t>(highest_) - static_cast<std::uint64_t>(lowest_);
        if (span < 16 * count_ + 4096) flat_.resize(span + 1, none);
    }
    // The value of a noted id.
    T& at(std::int64_t id) {
        if (!flat_.empty()) return flat_[offset(id)];
        return scattered_.try_emplace(id, none_).first->second;
    }
    // The value of any id; `none` if never set.
    T find(std::int64_t id) const {
        if (count_ == 0 || id < lowest_ || id > highest_) return none_;
        if (!flat_.empty()) return flat_[offset(id)];
        auto found = scattered_.find(id);
        return found == scattered_.end() ? none_ : found->second;
    }

private:
    std::size_t offset(std::int64_t id) const {
        return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(lowest_);
    }

    std::int64_t lowest_ = INT64_MAX, highest_ = INT64_MIN;
    std::uint64_t count_ = 0;
    T none_{};
    PodVector<T> flat_;
    std::unordered_map<std::int64_t, T> scattered_;
};

}  // namespace gpuprof::facts
