#include "core/base/text/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace gpuprof::inline base {
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

// Three significant digits, and no decimals once three digits precede the point.
std::string three_digits(double value) {
    double size = std::fabs(value);
    int decimals = size >= 9.995 ? 1 : 2;
    if (size >= 99.95) decimals = 0;
    return with_separators(fmt::format("{:.{}f}", value, decimals));
}

// In the largest unit that leaves at least 1 before the point. The smallest unit is exact: it has no fraction.
std::string scaled(double value, std::span<const Scale> scales, std::string_view suffix = {}) {
    const Scale* scale = scales.data();
    for (const Scale& larger : scales)
        if (std::fabs(value) >= larger.factor * 0.9995) scale = &larger;
    bool whole = scale == scales.data() && value == std::round(value);
    std::string number = whole ? fmt::format("{:.0f}", value) : three_digits(value / scale->factor);
    return fmt::format("{} {}{}", number, scale->unit, suffix);
}

// A number in the unit that follows it, or in `unit` if none does.
std::optional<double> number_with_unit(std::string_view text, std::span<const Scale> scales, std::string_view unit) {
    double number = 0;
    std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    if (!text.empty()) unit = text;
    for (const Scale& scale : scales)
        if (scale.unit == unit) return number * scale.factor;
    return std::nullopt;
}

}  // namespace

std::string readable_duration(double ns) { return ns == 0 ? "0" : scaled(ns, kDurations); }
std::string readable_bytes(double bytes) { return bytes == 0 ? "0" : scaled(bytes, kSizes); }
std::string readable_count(std::int64_t count) { return with_separators(std::to_string(count)); }
std::string readable_count(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", readable_count(static_cast<std::int64_t>(count)), noun, count == 1 ? "" : "s");
}
std::string readable_scaled(double value, std::string_view unit) { return scaled(value, kThousands, unit); }
std::string readable_percent(double percent) {
    double size = std::fabs(percent);
    return size > 0 && size < 0.05 ? "<0.1" : fmt::format("{:.1f}", percent);
}
std::string readable_deviation(double value) {
    return std::fabs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

std::optional<std::uint64_t> bytes_of_text(std::string_view text) {
    std::optional<double> bytes = number_with_unit(text, kSizes, "B");
    return bytes && *bytes >= 1 && *bytes <= 0x1p60 ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

std::optional<double> duration_of_text(std::string_view text, std::string_view unit) {
    std::optional<double> ns = number_with_unit(text, kDurations, unit);
    return ns && *ns >= 0 && std::isfinite(*ns) ? ns : std::nullopt;
}

}  // namespace gpuprof::base
