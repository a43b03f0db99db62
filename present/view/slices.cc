#include "present/view/slices.h"

#include <algorithm>
#include <bit>

#include "core/base/packed_number.h"

namespace gpuprof::inline view {

void Slices::pack() {
    std::array<std::array<std::uint64_t, kBlock>, kFields> fields;
    for (std::size_t i = 0; i < kBlock; ++i) {
        fields[0][i] = static_cast<std::uint64_t>(last_[i].start);
        fields[1][i] = static_cast<std::uint64_t>(last_[i].dur);
        fields[2][i] = index_of(last_[i].name);
        fields[3][i] = last_[i].row;
    }
    Block block{.least = {}, .at = bytes_.empty() ? 0 : bytes_.size() - kPackedTail, .width = {}};
    std::size_t end = block.at;
    for (std::size_t field = 0; field < kFields; ++field) {
        const auto [least, most] = std::minmax_element(fields[field].begin(), fields[field].end());
        block.least[field] = *least;
        block.width[field] = static_cast<std::uint8_t>((std::bit_width(*most - *least) + 7) / 8);
        end += block.width[field] * kBlock;
    }
    bytes_.resize(end + kPackedTail);
    unsigned char* to = bytes_.data() + block.at;
    for (std::size_t field = 0; field < kFields; ++field) {
        // Each number overwrites what is behind the one before; the last one is followed by the tail.
        for (std::size_t i = 0; i < kBlock; ++i, to += block.width[field]) {
            std::uint64_t number = fields[field][i] - block.least[field];
            std::memcpy(to, &number, sizeof number);
        }
    }
    blocks_.push_back(block);
    last_.clear();
}

void Slices::Iterator::open() {
    const std::size_t at = i_ / kBlock;
    if (at >= slices_->blocks_.size()) {
        last_ = slices_->last_.data();
        return;
    }
    const Block& block = slices_->blocks_[at];
    const unsigned char* numbers = slices_->bytes_.data() + block.at;
    for (std::size_t field = 0; field < kFields; ++field) {
        const std::uint64_t width = block.width[field];
        fields_[field] = {numbers, width, width == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * width), block.least[field]};
        numbers += width * kBlock;
    }
}

}  // namespace gpuprof::view
