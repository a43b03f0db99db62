#include "io/cubin/attributes.h"

#include "io/cubin/elf.h"

namespace gpuprof::cubin {

std::optional<AttributeValue> AttributeReader::next() {
    constexpr std::size_t kHeaderBytes = 4;
    if (rest_.size() < kHeaderBytes) return std::nullopt;
    AttributeValue value;
    value.attribute = static_cast<Attribute>(rest_[1]);
    std::size_t size = 0;
    switch (rest_[0]) {
        case 1: break;
        case 2: value.small = static_cast<std::uint8_t>(rest_[2]); break;
        case 3: value.small = u16_at(rest_, 2); break;
        case 4: size = u16_at(rest_, 2); break;
        default: rest_ = {}; return std::nullopt;
    }
    if (size > rest_.size() - kHeaderBytes) {
        rest_ = {};
        return std::nullopt;
    }
    value.block = rest_.substr(kHeaderBytes, size);
    rest_.remove_prefix(kHeaderBytes + size);
    return value;
}

}  // namespace gpuprof::cubin
