#include "core/report/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/readable.h"
#include "core/base/utf8.h"

namespace gpuprof {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// Columns that hold a point in time instead of a length of it.
bool is_moment(const ResultColumn& column) {
    static constexpr std::array<std::string_view, 4> kMoments{"start_ns", "first_ns", "last_ns", "at_ns"};
    return std::find(kMoments.begin(), kMoments.end(), column.name) != kMoments.end();
}

// Three significant digits without a unit; the header names it.
std::string plain(double value) {
    double size = std::fabs(value);
    if (size >= 1000) return readable_count(static_cast<std::int64_t>(std::llround(std::min(size, 1e18)) * (value < 0 ? -1 : 1)));
    return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string format_real(double value, Unit unit) {
    switch (unit) {
        case Unit::ns: return readable_duration(value);
        case Unit::bytes: return readable_bytes(value);
        case Unit::percent: return readable_percent(value);
        case Unit::flop: return readable_scaled(value, "FLOP");
        case Unit::flop_per_s: return readable_scaled(value, "FLOP/s");
        default: return plain(value);
    }
}

std::string format_integer(std::int64_t value, const ResultColumn& column, std::int64_t origin) {
    if (column.unit == Unit::ns && is_moment(column)) return readable_duration(static_cast<double>(value - origin));
    if (column.unit == Unit::count) return readable_count(value);
    if (column.unit == Unit::none) return std::to_string(value);
    return format_real(static_cast<double>(value), column.unit);
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        CodePoint point = decode_utf8(text);
        bool blank = point.value == '\n' || point.value == '\t' || point.value == '\r';
        bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
        bool direction = (point.value >= 0x202A && point.value <= 0x202E) || (point.value >= 0x2066 && point.value <= 0x2069);
        append_utf8(out, blank ? U' ' : control || direction ? kReplacement : point.value);
        text.remove_prefix(point.bytes);
    }
    return out;
}

int display_width(std::string_view text) {
    int width = 0;
    while (!text.empty()) {
        CodePoint point = decode_utf8(text);
        width += cell_width(point.value);
        text.remove_prefix(point.bytes);
    }
    return width;
}

namespace {

// How many bytes from the front of `text` fill at most `width` cells.
std::size_t bytes_of_cells(std::string_view text, int width) {
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        CodePoint point = decode_utf8(text.substr(bytes));
        width -= cell_width(point.value);
        if (width < 0) break;
        bytes += point.bytes;
    }
    return bytes;
}

}  // namespace

std::string shorten_middle(const std::string& text, int width, bool unicode) {
    int whole = display_width(text);
    if (whole <= width) return text;
    std::string_view mark = unicode ? "…" : "...";
    int room = std::max(width - (unicode ? 1 : 3), 0);
    int head = (room * 3 + 2) / 5;  // the beginning of a name says more than its end
    std::string_view front = std::string_view(text).substr(0, bytes_of_cells(text, head));
    std::size_t skip = bytes_of_cells(text, whole - (room - head));
    while (display_width(std::string_view(text).substr(skip)) > room - head)
        skip += decode_utf8(std::string_view(text).substr(skip)).bytes;
    return fmt::format("{}{}{}", front, mark, std::string_view(text).substr(skip));
}

std::string pad_right(std::string_view text, int width) {
    return std::string(text) + std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ');
}

std::string pad_left(std::string_view text, int width) {
    return std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ') + std::string(text);
}

std::string header_of(const ResultColumn& column) {
    std::string_view name = column.name;
    std::string_view tail;
    auto cut = [&](std::string_view suffix, std::string_view shown) {
        if (!ends_with(name, suffix)) return;
        name.remove_suffix(suffix.size());
        tail = shown;
    };
    if (column.unit == Unit::ns) cut("_ns", "");
    if (column.unit == Unit::bytes) cut("_bytes", "");
    if (column.unit == Unit::percent) cut("_pct", " %");
    if (column.unit == Unit::gb_per_s) cut("_gb_per_s", " GB/s");
    if (name == "gb_per_s") name = "GB/s";
    std::string header = std::string(name) + std::string(tail);
    std::replace(header.begin(), header.end(), '_', ' ');
    return header;
}

std::string format_cell(const Cell& cell, const ResultColumn& column, std::int64_t origin, bool unicode) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return format_integer(*integer, column, origin);
    if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) return format_real(*real, column.unit);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return printable(*text);
    if (const auto* boolean = std::get_if<bool>(&cell)) return *boolean ? "yes" : "no";
    return unicode ? "–" : "-";
}

bool is_number(const ResultColumn& column) { return column.type == CellType::integer || column.type == CellType::real; }

}  // namespace gpuprof
