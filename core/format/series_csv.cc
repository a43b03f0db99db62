#include "core/format/series_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gpuprof::inline format {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// The meaning of a column.
struct CsvColumn {
    enum class Kind { skipped, time, device, metric } kind = Kind::skipped;
    Metric metric{};
    double scale = 1;
};

struct Alias {
    std::string_view name;
    Metric metric;
    double scale;
};
constexpr Alias kAliases[] = {
    {"mem_used", Metric::mem_used, 1 / kMiB},
    {"mem_total", Metric::mem_total, 1 / kMiB},
    {"power_mw", Metric::power, 1e-3},
    {"energy_mj", Metric::energy, 1e-3},
    {"temp", Metric::temp, 1},
    {"sm_mhz", Metric::sm_clock, 1},
    {"mem_mhz", Metric::mem_clock, 1},
    {"throttle", Metric::throttle, 1},
};

std::string_view trimmed(std::string_view text) {
    auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

template <class Visit>
void each_cell(std::string_view line, Visit&& visit) {
    for (std::size_t index = 0;; ++index) {
        std::size_t comma = line.find(',');
        visit(index, trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

CsvColumn column_of(std::string_view name) {
    if (name == "time_s" || name == "t_s") return {.kind = CsvColumn::Kind::time};
    if (name == "device") return {.kind = CsvColumn::Kind::device};
    for (const MetricSpec& spec : kMetrics)
        if (spec.field == name) return {.kind = CsvColumn::Kind::metric, .metric = spec.metric};
    for (const Alias& alias : kAliases)
        if (alias.name == name) return {.kind = CsvColumn::Kind::metric, .metric = alias.metric, .scale = alias.scale};
    return {};
}

// A finite number that takes the whole cell.
std::optional<double> number_in(std::string_view cell) {
    double value = 0;
    auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// Seconds since the epoch have more digits than a double: the fraction is parsed separately.
std::optional<TimeNs> time_in(std::string_view cell) {
    constexpr double kMaxSeconds = 9e9;  // seconds, the year 2255
    std::size_t point = cell.find('.');
    std::optional<double> whole = number_in(cell.substr(0, point));
    if (!whole || std::abs(*whole) > kMaxSeconds) return std::nullopt;
    TimeNs ns = static_cast<TimeNs>(*whole) * 1'000'000'000;
    if (point == std::string_view::npos) return ns;
    std::string_view digits = cell.substr(point + 1).substr(0, 9);
    TimeNs fraction = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        char digit = i < digits.size() ? digits[i] : '0';
        if (digit < '0' || digit > '9') return std::nullopt;
        fraction = fraction * 10 + (digit - '0');
    }
    return cell.front() == '-' ? ns - fraction : ns + fraction;
}

// False if the line is not a reading.
bool read_line(std::string_view line, const std::vector<CsvColumn>& columns, Reading& reading) {
    bool timed = false, sound = true;
    each_cell(line, [&](std::size_t index, std::string_view cell) {
        if (index >= columns.size()) return void(sound = false);
        const CsvColumn& column = columns[index];
        if (column.kind == CsvColumn::Kind::time) {
            if (std::optional<TimeNs> time = time_in(cell)) {
                reading.time = *time;
                timed = true;
            }
        } else if (std::optional<double> value = number_in(cell)) {
            if (column.kind == CsvColumn::Kind::device && *value >= 0 && *value < 4096)
                reading.device = static_cast<std::int32_t>(*value);
            if (column.kind == CsvColumn::Kind::metric) reading.set(column.metric, *value * column.scale);
        }
    });
    return timed && sound;
}

std::vector<CsvColumn> columns_of(std::string_view line) {
    std::vector<CsvColumn> columns;
    each_cell(line, [&](std::size_t, std::string_view cell) { columns.push_back(column_of(cell)); });
    return columns;
}

bool is_heading(const std::vector<CsvColumn>& columns) {
    auto has = [&](CsvColumn::Kind kind) {
        return std::any_of(columns.begin(), columns.end(), [kind](const CsvColumn& c) { return c.kind == kind; });
    };
    return has(CsvColumn::Kind::time) && has(CsvColumn::Kind::metric);
}

}  // namespace

bool is_series_heading(std::string_view line) { return is_heading(columns_of(line)); }

Result<RecordedSeries> parse_series(std::string_view text, std::string_view name) {
    std::vector<CsvColumn> columns;
    RecordedSeries series;
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (trimmed(line).empty()) continue;
        if (columns.empty()) {
            columns = columns_of(line);
            if (!is_heading(columns))
                return Error{
                    ExitCode::unreadable,
                    fmt::format(
                        "cannot read {}: not a recorded series; its first line must name time_s and metrics such as "
                        "util_gpu, separated by commas",
                        name)};
            continue;
        }
        Reading reading;
        if (read_line(line, columns, reading))
            series.readings.push_back(reading);
        else
            ++series.bad_lines;
    }
    if (series.readings.empty())
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: the series has no readings", name)};
    std::stable_sort(series.readings.begin(), series.readings.end(),
                     [](const Reading& a, const Reading& b) { return a.time < b.time; });
    return series;
}

std::string series_heading() {
    std::string line = "time_s,device";
    for (const MetricSpec& spec : kMetrics) line += fmt::format(",{}", spec.field);
    return line + '\n';
}

std::string series_line(const Reading& reading, TimeNs started) {
    TimeNs since = reading.time - started;
    std::string line = fmt::format("{}{}.{:09},{}", since < 0 ? "-" : "", std::abs(since) / 1'000'000'000,
                                   std::abs(since) % 1'000'000'000, reading.device);
    for (const MetricSpec& spec : kMetrics) {
        line += ',';
        if (std::optional<double> value = reading.get(spec.metric)) line += fmt::format("{}", *value);
    }
    return line + '\n';
}

}  // namespace gpuprof::format
