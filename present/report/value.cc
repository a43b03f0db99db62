#include "present/report/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text/readable.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline report {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// Three significant digits without a unit; the header names it.
std::string plain(double value) {
    double size = std::fabs(value);
    if (size >= 1000)
        return readable_count(static_cast<std::int64_t>(std::llround(std::min(size, 1e18)) * (value < 0 ? -1 : 1)));
    int digits = size >= 9.995 ? 1 : 2;
    if (size >= 99.95) digits = 0;
    return fmt::format("{:.{}f}", value, digits);
}

constexpr double kMaxPlainRatio = 1e4;  // larger ones are of kernels that hardly read anything

std::string format_real(double value, Unit unit) {
    switch (unit) {
        case Unit::ns: return readable_duration(value);
        case Unit::bytes: return readable_bytes(value);
        case Unit::percent: return readable_percent(value);
        case Unit::flop: return readable_scaled(value, "FLOP");
        case Unit::flop_per_s: return readable_scaled(value, "FLOP/s");
        case Unit::flop_per_byte:
            if (value >= kMaxPlainRatio) return readable_scaled(value, "FLOP/byte");
            [[fallthrough]];
        default: return plain(value);
    }
}

std::string format_integer(std::int64_t value, const ResultColumn& column) {
    if (column.unit == Unit::count) return readable_count(value);
    if (column.unit == Unit::none) return std::to_string(value);
    return format_real(static_cast<double>(value), column.unit);
}

}  // namespace

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

std::string format_cell(const Cell& cell, const ResultColumn& column, bool unicode) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return format_integer(*integer, column);
    if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real))
        return column.name.ends_with("bytes_per_s") ? readable_scaled(*real, "B/s") : format_real(*real, column.unit);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return printable(*text);
    if (const auto* boolean = std::get_if<bool>(&cell)) return *boolean ? "yes" : "no";
    return unicode ? "–" : "-";
}

std::string format_amount(double value, std::string_view unit) {
    if (unit == "ns") return readable_duration(value);
    if (unit == "byte" || unit == "bytes") return readable_bytes(value);
    if (unit == "byte/s") return readable_scaled(value, "B/s");
    if (unit == "hz" || unit == "Hz") return readable_scaled(value, "Hz");
    if (unit == "FLOP/s" || unit == "FLOP") return readable_scaled(value, unit);
    return unit.empty() ? plain(value) : fmt::format("{} {}", plain(value), unit);
}

bool is_number(const ResultColumn& column) { return column.type == CellType::integer || column.type == CellType::real; }

}  // namespace gpuprof::report
