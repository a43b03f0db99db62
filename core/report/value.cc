#include "core/report/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>

#include "core/base/utf8.h"

namespace gpuprof {
namespace {

struct Scale {
    double factor;
    std::string_view unit;
};

constexpr Scale kDurations[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Scale kSizes[] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
constexpr Scale kThousands[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};

std::string with_separators(std::string digits) {
    std::size_t first = digits[0] == '-' ? 1 : 0;
    std::size_t end = std::min(digits.find('.'), digits.size());
    for (std::size_t at = end; at > first + 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

// Three significant digits, none of them after the point once there are three before it.
std::string three_digits(double value) {
    double size = std::fabs(value);
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return with_separators(fmt::format("{:.{}f}", value, decimals));
}

// In the largest unit that leaves at least 1 before the point. The smallest unit is exact: it has no fraction to show.
std::string scaled(double value, std::span<const Scale> scales, std::string_view suffix = {}) {
    const Scale* scale = scales.data();
    for (const Scale& larger : scales)
        if (std::fabs(value) >= larger.factor * 0.9995) scale = &larger;
    bool whole = scale == scales.data() && value == std::round(value);
    std::string number = whole ? fmt::format("{:.0f}", value) : three_digits(value / scale->factor);
    return fmt::format("{} {}{}", number, scale->unit, suffix);
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// Columns that hold a point in time instead of a length of it.
bool is_moment(const ResultColumn& column) {
    static constexpr std::array<std::string_view, 4> kMoments{"start_ns", "first_ns", "last_ns", "at_ns"};
    return std::find(kMoments.begin(), kMoments.end(), column.name) != kMoments.end();
}

std::string format_real(double value, Unit unit) {
    switch (unit) {
        case Unit::ns: return format_duration(value);
        case Unit::bytes: return format_bytes(value);
        case Unit::percent: return format_percent(value);
        case Unit::flop: return scaled(value, kThousands, "FLOP");
        case Unit::flop_per_s: return scaled(value, kThousands, "FLOP/s");
        default: return three_digits(value);
    }
}

std::string format_integer(std::int64_t value, const ResultColumn& column, std::int64_t origin) {
    if (column.unit == Unit::ns && is_moment(column)) return format_duration(static_cast<double>(value - origin));
    if (column.unit == Unit::count) return format_count(value);
    if (column.unit == Unit::none) return std::to_string(value);
    return format_real(static_cast<double>(value), column.unit);
}

}  // namespace

std::string format_duration(double ns) { return ns == 0 ? "0" : scaled(ns, kDurations); }
std::string format_bytes(double bytes) { return bytes == 0 ? "0" : scaled(bytes, kSizes); }
std::string format_count(std::int64_t count) { return with_separators(std::to_string(count)); }

std::string format_percent(double percent) {
    if (percent > 0 && percent < 0.05) return "<0.1";
    if (percent > 99.95 && percent < 100) return ">99.9";
    return fmt::format("{:.1f}", percent);
}

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
