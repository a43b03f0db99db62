#include "io/importers/nsys_stats/columns.h"

#include <charconv>
#include <cmath>

#include "core/base/text/ascii.h"
#include "io/importers/kineto/kineto_number.h"

namespace gpuprof::inline importers::nsys_stats {
namespace {

constexpr double kMaxValue = 1e18;  // ns and bytes; larger values are not times or sizes of a recording

struct Name {
    std::string_view name, unit;
};

// "Start (ns)" and "Start(nsec)".
Name parts_of(std::string_view field) {
    std::size_t open = field.find('(');
    if (open == field.npos || !field.ends_with(')')) return {field, {}};
    std::string_view name = field.substr(0, open);
    while (name.ends_with(' ')) name.remove_suffix(1);
    return {name, field.substr(open + 1, field.size() - open - 2)};
}

// Powers of ten from a unit of time to ns; absent for another unit.
std::optional<int> time_scale(std::string_view unit) {
    constexpr std::pair<std::string_view, int> kUnits[] = {{"ns", 0}, {"nsec", 0}, {"us", 3}, {"usec", 3},
                                                           {"ms", 6}, {"msec", 6}, {"s", 9},  {"sec", 9}};
    for (auto [name, scale] : kUnits)
        if (unit == name) return scale;
    return std::nullopt;
}

std::optional<double> bytes_in(std::string_view unit) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"", 1},     {"B", 1},    {"bytes", 1},     {"kB", 1e3},      {"KB", 1e3},
        {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    for (auto [name, bytes] : kUnits)
        if (unit == name) return bytes;
    return std::nullopt;
}

}  // namespace

Report Columns::report_of(const std::vector<std::string>& fields) {
    // Rows start with a number; the check runs for every row and must be fast.
    if (fields[0].empty() || !is_letter(fields[0][0])) return Report::none;
    Columns columns;
    columns.take(fields);
    auto has = [&](std::string_view name) { return columns.columns_.contains(name); };
    if (has("Start") && has("Duration") && has("CorrId") && has("GrdX") && has("Name")) return Report::gpu_trace;
    if (has("Start") && has("Duration") && has("CorrID") && has("Tid") && has("Name")) return Report::api_trace;
    // Every report has a time column among its first three.
    for (std::string_view known : {"Start", "Duration", "Total Time"})
        if (fields.size() > 3 && has(known) && columns.columns_.find(known)->second.index < 3) return Report::other;
    return Report::none;
}

void Columns::take(const std::vector<std::string>& fields) {
    columns_.clear();
    size_ = fields.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
        Name parts = parts_of(fields[i]);
        columns_.try_emplace(std::string(parts.name), Column{i, std::string(parts.unit)});
    }
}

std::string_view Columns::text(const std::vector<std::string>& row, std::string_view column) const {
    auto known = columns_.find(column);
    return known == columns_.end() || known->second.index >= row.size() ? std::string_view() : row[known->second.index];
}

std::optional<std::int64_t> Columns::integer(const std::vector<std::string>& row, std::string_view column) const {
    std::int64_t value = 0;
    bool read = kineto::parse_integer(text(row, column), value) == kineto::Number::ok;
    return read ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> Columns::time(const std::vector<std::string>& row, std::string_view column) const {
    auto known = columns_.find(column);
    std::optional<int> scale = known == columns_.end() ? std::nullopt : time_scale(known->second.unit);
    std::int64_t value = 0;
    if (!scale || kineto::parse_decimal(text(row, column), *scale, value) != kineto::Number::ok) return std::nullopt;
    return std::abs(static_cast<double>(value)) < kMaxValue ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> Columns::bytes(const std::vector<std::string>& row, std::string_view column) const {
    constexpr double kTolerance = 0.01;
    auto known = columns_.find(column);
    std::optional<double> scale = known == columns_.end() ? std::nullopt : bytes_in(known->second.unit);
    std::string_view digits = text(row, column);
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (!scale || error != std::errc{} || end != digits.data() + digits.size() || !(value >= 0)) return std::nullopt;
    double bytes = value * *scale;
    if (!(bytes < kMaxValue)) return std::nullopt;
    std::size_t point = digits.find('.');
    double step = *scale * std::pow(10.0, point == digits.npos ? 0.0 : -static_cast<double>(digits.size() - point - 1));
    bool exact = step <= 1, near = step / 2 <= kTolerance * bytes;
    return exact || near ? std::optional(static_cast<std::int64_t>(std::llround(bytes))) : std::nullopt;
}

}  // namespace gpuprof::importers::nsys_stats
