#include "core/base/text/utf8.h"

#include <algorithm>
#include <iterator>

namespace gpuprof::inline base {
namespace {

// The first byte determines how many follow, and limits the second one so that overlong forms, surrogates and values
// above U+10FFFF are rejected at once (Unicode standard, table 3-7).
struct Lead {
    int follow;
    unsigned char low, high;
};

Lead lead_of(unsigned char byte) {
    if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
    if (byte == 0xE0) return {2, 0xA0, 0xBF};
    if (byte == 0xED) return {2, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
    if (byte == 0xF0) return {3, 0x90, 0xBF};
    if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
    if (byte == 0xF4) return {3, 0x80, 0x8F};
    return {0, 0, 0};
}

struct Range {
    char32_t first, last;
};

// The blocks that matter in names; Unicode's full tables (EastAsianWidth.txt, DerivedGeneralCategory.txt) are longer.
constexpr Range kZero[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool within(const Range (&ranges)[N], char32_t value) {
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [value](const Range& range) { return value >= range.first && value <= range.last; });
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
    auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return {first, 1, true};
    Lead lead = lead_of(first);
    if (lead.follow == 0) return {kReplacement, 1, false};
    char32_t value = first & (0x3Fu >> lead.follow);
    for (int i = 1; i <= lead.follow; ++i) {
        auto at = static_cast<std::size_t>(i);
        unsigned char next = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
        bool fits = i == 1 ? next >= lead.low && next <= lead.high : next >= 0x80 && next <= 0xBF;
        if (!fits) return {kReplacement, static_cast<std::uint8_t>(i), false};
        value = (value << 6) | (next & 0x3Fu);
    }
    return {value, static_cast<std::uint8_t>(lead.follow + 1), true};
}

void append_utf8(std::string& out, char32_t value) {
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) value = kReplacement;
    auto put = [&out](char32_t bits) { out.push_back(static_cast<char>(bits)); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0 | (value >> 6));
        put(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        put(0xE0 | (value >> 12));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    } else {
        put(0xF0 | (value >> 18));
        put(0x80 | ((value >> 12) & 0x3F));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    }
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    std::size_t copied = 0;  // everything before is in `out`
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        CodePoint point = decode_utf8(text.substr(at));
        if (!point.valid) {
            out.append(text.substr(copied, at - copied));
            append_utf8(out, kReplacement);
            copied = at + point.bytes;
        }
        at += point.bytes;
    }
    out.append(text.substr(copied));
    return out;
}

bool is_control(char32_t value) {
    return value < 0x20 || (value >= 0x7F && value < 0xA0) || (value >= 0x202A && value <= 0x202E) ||
           (value >= 0x2066 && value <= 0x2069);
}

std::string printable(std::string_view text) {
    bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
    if (plain) return std::string(text);
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        CodePoint point = decode_utf8(text);
        char32_t shown = is_control(point.value) ? kReplacement : point.value;
        if (point.value == '\n' || point.value == '\t' || point.value == '\r') shown = U' ';
        append_utf8(out, shown);
        text.remove_prefix(point.bytes);
    }
    return out;
}

int cell_width(char32_t value) {
    if (value < 0x300) return 1;
    if (within(kZero, value)) return 0;
    return within(kWide, value) ? 2 : 1;
}

}  // namespace gpuprof::base
