// Helpers that build cells, so that an analysis reads like its list of columns.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result_table.h"
#include "core/model/trace.h"

namespace gpuprof::inline tables {

template <std::integral T>
Cell integer(T value) {
    return static_cast<std::int64_t>(value);
}
template <std::integral T>
Cell integer(const std::optional<T>& value) {
    return value ? Cell{static_cast<std::int64_t>(*value)} : kAbsent;
}
inline Cell real(double value) { return value; }
inline Cell text_or_absent(const Trace& trace, StringId id) { return id == kNoString ? kAbsent : Cell{trace.text(id)}; }
inline Cell real(const std::optional<double>& value) { return value ? Cell{*value} : kAbsent; }

// A counted number that a tool wrote as a real.
inline Cell count_cell(const std::optional<double>& value) {
    return value && *value >= 0 && *value < 9e15 ? Cell{static_cast<std::int64_t>(*value)} : kAbsent;
}

// "a; b; c".
inline std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += text.empty() ? part : "; " + part;
    return text;
}

// Text; absent when empty. Not of a temporary, which would be gone before the cell is stored: return the text itself.
Cell text_cell(std::string&& text) = delete;
inline Cell text_cell(std::string_view text) { return text.empty() ? kAbsent : Cell{text}; }
inline Cell text_cell(const Trace& trace, StringId id) { return id == kNoString ? kAbsent : Cell{trace.text(id)}; }

// 100 * part / whole; absent when the whole is 0.
template <class Part, class Whole>
Cell percent(Part part, Whole whole) {
    if (whole == Whole{}) return kAbsent;
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
// numerator / denominator; absent when the denominator is 0.
template <class Numerator, class Denominator>
Cell ratio(Numerator numerator, Denominator denominator) {
    if (denominator == Denominator{}) return kAbsent;
    return static_cast<double>(numerator) / static_cast<double>(denominator);
}

}  // namespace gpuprof::tables
