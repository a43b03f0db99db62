#include "io/importers/kineto/kineto_number.h"

#include <bit>
#include <charconv>
#include <cstring>

#include "core/base/text/ascii.h"

namespace gpuprof::inline importers::kineto {
namespace {

// By the largest scale in use: seconds as ns.
constexpr std::int64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

// A decimal number taken apart: digits of `whole` then `fraction`, times 10^exponent.
struct Parts {
    bool negative = false;
    std::string_view whole, fraction;
    std::int64_t exponent = 0;

    std::size_t digits() const { return whole.size() + fraction.size(); }
    unsigned digit(std::size_t i) const {
        return static_cast<unsigned>((i < whole.size() ? whole[i] : fraction[i - whole.size()]) - '0');
    }
};

// The value of eight digits, first digit in the lowest byte of `chunk`; the digits are paired up in three steps.
std::int64_t eight_digits(std::uint64_t chunk) {
    chunk -= 0x3030303030303030u;
    chunk = chunk * 10 + (chunk >> 8);
    chunk = ((chunk & 0x000000FF000000FFu) * 0x000F424000000064u +
             (chunk >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >>
            32;
    return static_cast<std::int64_t>(chunk);
}

bool all_digits(std::uint64_t chunk) {
    constexpr std::uint64_t kHigh = 0xF0F0F0F0F0F0F0F0u, kThrees = 0x3030303030303030u;
    return (chunk & kHigh) == kThrees && ((chunk + 0x0606060606060606u) & kHigh) == kThrees;
}

// The value of the first n of the bytes at p, 1 <= n <= 8; false if one is not a digit. Reads 8 bytes.
bool read_up_to_eight(const char* p, std::size_t n, std::int64_t& value) {
    std::uint64_t chunk;
    std::memcpy(&chunk, p, sizeof chunk);
    // Zeros in front replace the bytes that follow.
    unsigned shift = static_cast<unsigned>(64 - 8 * n);
    chunk = chunk << shift | (std::uint64_t{0x3030303030303030u} & ((std::uint64_t{1} << shift) - 1));
    if (!all_digits(chunk)) return false;
    value = eight_digits(chunk);
    return true;
}

std::string_view take_digits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

bool take_exponent(std::string_view& text, std::int64_t& exponent) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return true;
    text.remove_prefix(1);
    bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    std::string_view digits = take_digits(text);
    if (digits.empty()) return false;
    constexpr std::int64_t kHugeExponent = 1'000'000'000;  // larger than any exponent that matters, and safe to add to
    for (char c : digits) exponent = exponent >= kHugeExponent ? kHugeExponent : exponent * 10 + (c - '0');
    if (negative) exponent = -exponent;
    return true;
}

bool split_number(std::string_view text, Parts& parts) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        parts.negative = text[0] == '-';
        text.remove_prefix(1);
    }
    parts.whole = take_digits(text);
    if (!text.empty() && text[0] == '.') {
        text.remove_prefix(1);
        parts.fraction = take_digits(text);
    }
    return parts.digits() > 0 && take_exponent(text, parts.exponent) && text.empty();
}

Number with_sign(bool negative, std::uint64_t magnitude, std::int64_t& value) {
    constexpr std::uint64_t kMaxMagnitude = INT64_MAX;
    if (magnitude > kMaxMagnitude + (negative ? 1 : 0)) return Number::out_of_range;
    value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    return Number::ok;
}

// Any length, any exponent: the digits before the point of text * 10^scale make the integer, the next one rounds it.
Number parse_slow(std::string_view text, int scale, std::int64_t& value) {
    Parts parts;
    if (!split_number(text, parts)) return Number::bad;
    std::int64_t point = static_cast<std::int64_t>(parts.whole.size()) + parts.exponent + scale;
    std::uint64_t magnitude = 0;
    std::size_t n = parts.digits();
    std::size_t i = 0;
    while (i < n && parts.digit(i) == 0) ++i;
    if (i == n) return with_sign(false, 0, value);
    if (point - static_cast<std::int64_t>(i) > 20) return Number::out_of_range;
    for (; static_cast<std::int64_t>(i) < point; ++i) {
        unsigned digit = i < n ? parts.digit(i) : 0;
        if (magnitude > (UINT64_MAX - 9) / 10) return Number::out_of_range;
        magnitude = magnitude * 10 + digit;
    }
    bool up = point >= 0 && static_cast<std::int64_t>(i) == point && i < n && parts.digit(i) >= 5;
    if (magnitude > INT64_MAX) return with_sign(parts.negative, magnitude, value);
    return with_sign(parts.negative, magnitude + (up ? 1 : 0), value);
}

}  // namespace

Number parse_decimal(std::string_view text, int scale, std::int64_t& value) {
    if (text.empty() || text == "null") return Number::absent;
    // The common case: at most 18 digits, which fit 64 bits, at most `scale` of them decimals, no exponent.
    const char* p = text.data();
    const char* end = p + text.size();
    bool negative = *p == '-';
    p += negative ? 1 : 0;
    if (end - p > 18 || p == end || !is_digit(*p)) return parse_slow(text, scale, value);
    std::int64_t magnitude = 0;
    while (p < end && is_digit(*p)) magnitude = magnitude * 10 + (*p++ - '0');
    int missing = scale;
    if (p < end && *p == '.') {
        if (end - p - 1 > scale) return parse_slow(text, scale, value);
        for (++p; p < end && is_digit(*p); --missing) magnitude = magnitude * 10 + (*p++ - '0');
    }
    if (p != end || magnitude > INT64_MAX / kPowers[missing]) return parse_slow(text, scale, value);
    magnitude *= kPowers[missing];
    value = negative ? -magnitude : magnitude;
    return Number::ok;
}

bool parse_padded_digits(std::string_view text, std::int64_t& value) {
    // The bytes are loaded as a machine number, first digit lowest.
    if (std::endian::native != std::endian::little || text.empty() || text.size() > 16) return false;
    if (text.size() <= 8) return read_up_to_eight(text.data(), text.size(), value);
    std::int64_t high = 0, low = 0;
    if (!read_up_to_eight(text.data(), text.size() - 8, high)) return false;
    if (!read_up_to_eight(text.data() + text.size() - 8, 8, low)) return false;
    value = high * 100'000'000 + low;
    return true;
}

Number parse_padded_microseconds(std::string_view text, std::int64_t& ns) {
    std::int64_t whole = 0, decimals = 0;
    std::size_t point = text.size() - 4;
    bool usual = text.size() > 4 && text.size() <= 19 && text[point] == '.' &&
                 parse_padded_digits(text.substr(0, point), whole) &&
                 parse_padded_digits(text.substr(point + 1), decimals);
    if (!usual) return parse_microseconds(text, ns);
    ns = whole * 1000 + decimals;
    return Number::ok;
}

Number parse_integer(std::string_view text, std::int64_t& value, bool bits) {
    int base = 10;
    std::string_view digits = text;
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        digits.remove_prefix(2);
    }
    if (base == 10 && text.size() < 17) return parse_decimal(text, 0, value);
    std::uint64_t magnitude = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    bool whole = error == std::errc{} && end == digits.data() + digits.size();
    if (!whole) return base == 10 ? parse_decimal(text, 0, value) : Number::bad;
    if (!bits) return with_sign(false, magnitude, value);
    value = static_cast<std::int64_t>(magnitude);
    return Number::ok;
}

}  // namespace gpuprof::importers::kineto
