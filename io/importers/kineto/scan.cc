#include "io/importers/kineto/scan.h"

namespace gpuprof::inline importers::kineto {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The code unit of `\uXXXX` at p, or -1.
int code_unit(const char* p, const char* end) {
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return -1;
    int unit = 0;
    for (int i = 2; i < 6; ++i) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

void append_utf8(std::string& to, std::uint32_t point) {
    auto add = [&to](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
        add(0xC0 | point >> 6);
    } else if (point < 0x10000) {
        add(0xE0 | point >> 12);
        add(0x80 | (point >> 6 & 0x3F));
    } else {
        add(0xF0 | point >> 18);
        add(0x80 | (point >> 12 & 0x3F));
        add(0x80 | (point >> 6 & 0x3F));
    }
    add(0x80 | (point & 0x3F));
}

// Decodes `\u` at p into `to`. Returns the bytes consumed; 0 if it is invalid or half a pair.
std::ptrdiff_t decode_unicode(const char* p, const char* end, std::string& to) {
    int unit = code_unit(p, end);
    if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return 0;
    if (unit < 0xD800 || unit >= 0xE000) {
        append_utf8(to, static_cast<std::uint32_t>(unit));
        return 6;
    }
    int low = code_unit(p + 6, end);
    if (low < 0xDC00 || low >= 0xE000) return 0;
    append_utf8(
        to, 0x10000u + (static_cast<std::uint32_t>(unit - 0xD800) << 10) + static_cast<std::uint32_t>(low - 0xDC00));
    return 12;
}

// Decodes the escape at p into `to`. Returns the bytes consumed; 0 if JSON has no such escape.
std::ptrdiff_t decode_escape(const char* p, const char* end, std::string& to) {
    if (end - p < 2) return 0;
    if (p[1] == 'u') return decode_unicode(p, end, to);
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    std::size_t which = kNames.find(p[1]);
    if (which == std::string_view::npos) return 0;
    to.push_back(kValues[which]);
    return 2;
}

}  // namespace

Scan scan_nested(const char*& p, const char* end, RawValue& out, bool& too_deep) {
    std::uint64_t objects = 0;  // one bit per open bracket, innermost lowest: 1 for a brace
    std::size_t depth = 0;
    const char* at = p;
    RawValue text;
    for (;;) {
        at = find_stop(at, end, nesting_stops);
        if (at >= end) return Scan::cut_off;
        if (*at == '"') {
            if (Scan scan = scan_string(at, end, text); scan != Scan::ok) return scan;
            continue;
        }
        bool object = (*at == '{' || *at == '}');
        if (*at == '{' || *at == '[') {
            objects = objects << 1 | static_cast<unsigned>(object);
            if (++depth > kMaxDepth) too_deep = true;
        } else {
            if (!too_deep && ((objects & 1) != 0) != object) return Scan::bad;
            objects >>= 1;
            if (--depth == 0) break;
        }
        ++at;
    }
    out = {p, at + 1, ValueKind::nested};
    p = at + 1;
    return Scan::ok;
}

std::string_view decode_string(const RawValue& value, std::string& scratch, bool& clean) {
    if (value.kind != ValueKind::escaped_string) return value.text();
    scratch.clear();
    for (const char* p = value.begin; p < value.end;) {
        std::ptrdiff_t used = *p == '\\' ? decode_escape(p, value.end, scratch) : 0;
        if (used == 0) {
            if (*p == '\\' || *p == '"' || static_cast<unsigned char>(*p) < 0x20) clean = false;
            scratch.push_back(*p);
            used = 1;
        }
        p += used;
    }
    return scratch;
}

}  // namespace gpuprof::importers::kineto
