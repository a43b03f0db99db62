// How the values of one column of a chunk are stored. Every encoding except `constant` yields one unsigned number of
// `width` bytes per row, stored as byte planes: first the lowest byte of every row, then the next byte of every row,
// and so on. Planes need no bit operations to read, and the nearly constant upper ones vanish in zstd. A plane of codes
// keeps the repetition of a training loop visible to zstd, which packed bits would hide.
//
//   constant      no numbers; the value is the parameter
//   offset        value = parameter + number
//   delta         value = value of the row before (the parameter for row 0) + number
//   signed_delta  the same with a zigzag-coded number
//   dictionary    value = entry `number` of the parameter, a list
//   plain         the number is the bit pattern (f64)
//
// Arithmetic is modulo 2^64, so every sequence of bytes decodes to something. An absent row repeats the previous row.
// The codes are part of the file; new ones are added at the end. Specified in docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/schema/schema.h"

namespace gpuprof::inline format {

enum class Encoding : std::uint8_t { constant = 0, offset = 1, delta = 2, signed_delta = 3, dictionary = 4, plain = 5 };
inline constexpr std::uint8_t kEncodings = 6;

// The types' codes in the file are the values of ColumnType.
static_assert(static_cast<int>(ColumnType::Time) == 0 && static_cast<int>(ColumnType::Dur) == 1 &&
              static_cast<int>(ColumnType::I64) == 2 && static_cast<int>(ColumnType::I32) == 3 &&
              static_cast<int>(ColumnType::F64) == 4 && static_cast<int>(ColumnType::Str) == 5);
inline constexpr std::uint8_t kColumnTypes = 6;

// The widest chunk; limits what a damaged or hostile file can make a reader allocate at once.
inline constexpr std::size_t kMaxChunkRows = std::size_t{1} << 20;

// Byte planes, one after the other, and the end of each, where the compressor resets its statistics.
struct Planes {
    std::string bytes;
    std::vector<std::size_t> ends;
};

}  // namespace gpuprof::format
