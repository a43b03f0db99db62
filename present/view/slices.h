// The slices of a lane in a third of their memory. Blocks of 128 have each field as numbers of the least width above the smallest of the
// block: four fields, one after the other. The slices behind the last whole block are kept as they are.
//
//   block   start 1000, 1008, 1016 ...   least 1000, then 0, 8, 16 ... in 2 bytes each
//           name  7 of all               least 7, in 0 bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline view {

struct Slice {
    TimeNs start = 0;
    DurNs dur = 0;
    StringId name = kNoString;  // in the trace's strings; absent: the lane's label
    Row row = kNoRow;           // of the lane's table
};

class Slices {
public:
    class Iterator;

    std::size_t size() const { return blocks_.size() * kBlock + last_.size(); }
    bool empty() const { return size() == 0; }
    std::size_t bytes() const { return blocks_.size() * sizeof(Block) + bytes_.size() + last_.size() * sizeof(Slice); }
    void push_back(const Slice& slice) {
        last_.push_back(slice);
        if (last_.size() == kBlock) pack();
    }
    Slice operator[](std::size_t i) const;
    Iterator at(std::size_t i) const;
    Iterator begin() const;
    Iterator end() const;

private:
    static constexpr std::size_t kBlock = 128, kFields = 4;
    struct Block {
        std::array<std::uint64_t, kFields> least;
        std::size_t at;  // in bytes_
        std::array<std::uint8_t, kFields> width;
    };
    void pack();

    PodVector<Block> blocks_;
    PodVector<unsigned char> bytes_;
    PodVector<Slice> last_;
};

class Slices::Iterator {
public:
    using value_type = Slice;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Slices& slices, std::size_t i) : slices_(&slices), i_(i) { open(); }
    Slice operator*() const {
        if (last_ != nullptr) return last_[i_ % kBlock];
        return {static_cast<TimeNs>(number(0)), static_cast<DurNs>(number(1)),
                static_cast<StringId>(static_cast<std::uint32_t>(number(2))), static_cast<Row>(number(3))};
    }
    Iterator& operator++() {
        if (++i_ % kBlock == 0) open();
        return *this;
    }
    Iterator operator++(int) {
        Iterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

private:
    struct Field {
        const unsigned char* numbers;
        std::uint64_t width, mask, least;
    };
    void open();  // the block of i_
    std::uint64_t number(std::size_t field) const {
        const Field& from = fields_[field];
        std::uint64_t number;
        std::memcpy(&number, from.numbers + i_ % kBlock * from.width, sizeof number);
        return (number & from.mask) + from.least;
    }

    const Slices* slices_ = nullptr;
    std::size_t i_ = 0;
    const Slice* last_ = nullptr;  // in a packed block: null
    std::array<Field, kFields> fields_{};
};

inline Slices::Iterator Slices::at(std::size_t i) const { return {*this, i}; }
inline Slices::Iterator Slices::begin() const { return at(0); }
inline Slices::Iterator Slices::end() const { return at(size()); }
inline Slice Slices::operator[](std::size_t i) const { return *at(i); }

}  // namespace gpuprof::view
