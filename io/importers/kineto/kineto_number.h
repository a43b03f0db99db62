// Exact numbers from JSON text: decimal in, integer out, never through a double.
// Kineto writes times as decimal microseconds with three decimals, which are whole nanoseconds. Other writers use fewer
// or more decimals, exponents, or quoted and hexadecimal integers (ROCm). Excess precision is rounded half away from
// zero.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline importers::kineto {

enum class Number {
    ok,
    absent,        // the literal null, or an empty text
    bad,           // NaN, Infinity, or not a number
    out_of_range,  // a number that does not fit
};

// value = text * 10^scale (0 to 9), rounded half away from zero.
Number parse_decimal(std::string_view text, int scale, std::int64_t& value);

// Decimal microseconds to nanoseconds.
inline Number parse_microseconds(std::string_view text, std::int64_t& ns) { return parse_decimal(text, 3, ns); }

// The next two read up to 8 bytes past the text, whatever they are; the text must be in a block with scan padding.

// 1 to 16 digits and nothing else; false for any other text.
bool parse_padded_digits(std::string_view text, std::int64_t& value);

// As parse_microseconds, optimised for the numbers that Kineto writes: digits, a point, three digits.
Number parse_padded_microseconds(std::string_view text, std::int64_t& ns);

// An integer: decimal, or hexadecimal after 0x. If `bits` is set, unsigned values up to 2^64-1 keep their bit pattern.
Number parse_integer(std::string_view text, std::int64_t& value, bool bits = false);

}  // namespace gpuprof::importers::kineto
