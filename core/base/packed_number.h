// Unsigned numbers of one width in bytes, 1 to 8, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuprof::inline base {

// A number is read with what follows it: the last one needs this number of bytes behind it.
inline constexpr std::size_t kPackedTail = 8;

inline std::uint64_t packed_number(const void* numbers, std::uint8_t width, std::size_t index) {
    std::uint64_t number;
    std::memcpy(&number, static_cast<const unsigned char*>(numbers) + index * width, sizeof number);
    return number & (~std::uint64_t{0} >> (64 - 8 * width));
}

}  // namespace gpuprof::base
