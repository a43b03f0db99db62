// UTF-8 as found in real files: names may contain any bytes. Decoding never fails; bytes that are not UTF-8 (the
// longest broken piece at a time, as section 3.9 of the Unicode standard recommends) become U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
    char32_t value;      // kReplacement for broken bytes
    std::uint8_t bytes;  // its length in bytes, at least 1
    bool valid;
};

// The code point at the start of `text`, which is not empty.
CodePoint decode_utf8(std::string_view text);
// Appends a code point; surrogates and values above U+10FFFF become U+FFFD.
void append_utf8(std::string& out, char32_t value);
// `text` with every broken piece replaced.
std::string valid_utf8(std::string_view text);
// Whether it could control a terminal: C0 and C1 controls (line ends and tabs too), DEL, and bidirectional controls.
bool is_control(char32_t value);
// `text` for a terminal, a table or a message: line ends and tabs become spaces, controls and broken pieces U+FFFD, so
// that no name can break a line or control the terminal.
std::string printable(std::string_view text);
// Number of terminal cells of a code point: 0 for combining marks, 2 for wide East Asian and emoji, else 1.
int cell_width(char32_t value);

}  // namespace gpuprof::base
