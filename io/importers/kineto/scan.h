// The lexical layer of the Kineto reader: finds the ends of JSON strings, numbers and nested values, 16 bytes at a
// time, and does not interpret them.
//
// Tolerant where real files are malformed: a string may have raw control characters, quotes and any escape, a bare word
// such as NaN is a scalar, separators may be missing or doubled. Strict about structure: a value without a recognisable
// end is `bad`.
//
// Invariant: the bytes [end, end + kScanPadding) are readable and all 0xFF, which never occurs in JSON, so vector loads
// may pass the end and every loop stops there. A position at or past `end` means that the value is truncated.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gpuprof::inline importers::kineto {

inline constexpr std::size_t kScanPadding = 64;

enum class Scan { ok, cut_off, bad };
enum class ValueKind : std::uint8_t { plain_string, escaped_string, scalar, nested };

// The bytes of one value: for a string, the text between the quotes; otherwise the text itself.
struct RawValue {
    const char* begin = nullptr;
    const char* end = nullptr;
    ValueKind kind = ValueKind::scalar;
    std::string_view text() const { return {begin, static_cast<std::size_t>(end - begin)}; }
    bool is_string() const { return kind <= ValueKind::escaped_string; }
};

// Bytes that match a set, as a bit mask over the 16 bytes at `p`. Each set is written twice: as vectors and as a test
// of one byte.
#if defined(__SSE2__)
using Bytes16 = __m128i;
inline Bytes16 load16(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline Bytes16 all16(char c) { return _mm_set1_epi8(c); }
inline unsigned mask_of(Bytes16 v) { return static_cast<unsigned>(_mm_movemask_epi8(v)); }
inline Bytes16 either(Bytes16 a, Bytes16 b) { return _mm_or_si128(a, b); }
inline Bytes16 equal(Bytes16 v, char c) { return _mm_cmpeq_epi8(v, all16(c)); }
inline Bytes16 at_most(Bytes16 v, char c) { return _mm_cmpeq_epi8(_mm_min_epu8(v, all16(c)), v); }

inline unsigned string_stops(const char* p) {
    Bytes16 v = load16(p);
    return mask_of(either(either(equal(v, '"'), equal(v, '\\')), at_most(v, 0x1F)));
}
inline unsigned scalar_stops(const char* p) {
    Bytes16 v = load16(p);
    return mask_of(either(either(equal(v, ','), at_most(v, ' ')), either(equal(v, '}'), equal(v, ']'))));
}
// '[' and '{', ']' and '}' differ only in bit 5.
inline unsigned nesting_stops(const char* p) {
    Bytes16 v = load16(p);
    Bytes16 folded = either(v, all16(0x20));
    return mask_of(either(equal(v, '"'), either(equal(folded, '{'), equal(folded, '}'))));
}
inline unsigned not_space(const char* p) { return ~mask_of(at_most(load16(p), ' ')) & 0xFFFFu; }
#else
template <class Test>
unsigned mask16(const char* p, Test test) {
    unsigned mask = 0;
    for (unsigned i = 0; i < 16; ++i) mask |= static_cast<unsigned>(test(static_cast<unsigned char>(p[i]))) << i;
    return mask;
}
inline unsigned string_stops(const char* p) {
    return mask16(p, [](unsigned char c) { return c == '"' || c == '\\' || c < 0x20; });
}
inline unsigned scalar_stops(const char* p) {
    return mask16(p, [](unsigned char c) { return c == ',' || c == '}' || c == ']' || c <= ' '; });
}
inline unsigned nesting_stops(const char* p) {
    return mask16(p, [](unsigned char c) { return c == '"' || (c | 0x20) == '{' || (c | 0x20) == '}'; });
}
inline unsigned not_space(const char* p) {
    return mask16(p, [](unsigned char c) { return c > ' '; });
}
#endif

// First position at or after p whose byte is in the set; may be past `end` if there is none before it.
template <class Stops>
inline const char* find_stop(const char* p, const char* end, Stops stops) {
    while (p < end) {
        unsigned found = stops(p);
        if (found != 0) return p + std::countr_zero(found);
        p += 16;
    }
    return end;
}

// Control characters count as space between tokens: some files are padded with NUL.
[[gnu::always_inline]] inline const char* skip_space(const char* p, const char* end) {
    auto visible = [](const char* q) { return static_cast<unsigned char>(*q) > ' '; };
    if (visible(p)) return p;
    if (visible(p + 1)) return p + 1;
    return find_stop(p, end, not_space);
}

// Whether the quote at `at` ends its string: only a separator or a closing bracket may follow. Some recorders write
// quotes inside names unescaped (Kineto escapes nothing), and such names stay whole. `cut_off` if the next bytes are
// missing.
inline Scan closes_string(const char* at, const char* end) {
    const char* next = skip_space(at + 1, end);
    if (next >= end) return Scan::cut_off;
    return *next == ',' || *next == ':' || *next == '}' || *next == ']' ? Scan::ok : Scan::bad;
}

// Reads the string whose opening quote is at p; p moves past the closing quote.
[[gnu::always_inline]] inline Scan scan_string(const char*& p, const char* end, RawValue& out) {
    const char* at = p + 1;
    out.begin = at;
    out.kind = ValueKind::plain_string;
    for (;;) {
        at = find_stop(at, end, string_stops);
        if (at >= end) return Scan::cut_off;
        if (*at == '"') {
            Scan scan = closes_string(at, end);
            if (scan == Scan::cut_off) return scan;
            if (scan == Scan::ok) break;
        }
        out.kind = ValueKind::escaped_string;
        at += *at == '\\' ? 2 : 1;
    }
    out.end = at;
    p = at + 1;
    return Scan::ok;
}

// Reads a number, a literal or any other bare word at p.
[[gnu::always_inline]] inline Scan scan_scalar(const char*& p, const char* end, RawValue& out) {
    const char* at = find_stop(p, end, scalar_stops);
    if (at >= end) return Scan::cut_off;
    out = {p, at, ValueKind::scalar};
    p = at;
    return out.begin == out.end ? Scan::bad : Scan::ok;
}

// Reads the object or array at p without recursion. Brackets must match up to kMaxDepth; deeper ones are only counted,
// and `too_deep` is set.
inline constexpr unsigned kMaxDepth = 64;
Scan scan_nested(const char*& p, const char* end, RawValue& out, bool& too_deep);

// Reads any value at p.
[[gnu::always_inline]] inline Scan scan_value(const char*& p, const char* end, RawValue& out, bool& too_deep) {
    if (p >= end) return Scan::cut_off;
    if (*p == '"') return scan_string(p, end, out);
    if (*p == '{' || *p == '[') return scan_nested(p, end, out, too_deep);
    return scan_scalar(p, end, out);
}

// The text of a string value; `scratch` holds it if decoding was necessary. `clean` becomes false if the string has an
// escape that JSON does not allow, half a surrogate pair, a bare quote or a raw control character; those bytes stay
// unchanged.
std::string_view decode_string(const RawValue& value, std::string& scratch, bool& clean);

}  // namespace gpuprof::importers::kineto
