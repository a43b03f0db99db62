#include "io/importers/smi/smi_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "io/importers/row_values.h"
#include "io/smi/smi_cells.h"

namespace gpuprof::inline importers::smi_log {
namespace {

using Kind = LogColumn::Kind;

struct DmonColumn {
    std::string_view name;
    Kind kind;
    Metric metric;
};
// Source: nvidia-smi dmon --help, "Columns"; columns not listed here keep dmon's own name.
constexpr DmonColumn kDmon[] = {{"gpu", Kind::index, {}},
                                {"Date", Kind::date, {}},
                                {"Time", Kind::clock, {}},
                                {"pwr", Kind::metric, Metric::power},
                                {"gtemp", Kind::metric, Metric::temp},
                                {"sm", Kind::metric, Metric::util_gpu},
                                {"mem", Kind::metric, Metric::util_mem},
                                {"mclk", Kind::metric, Metric::mem_clock},
                                {"pclk", Kind::metric, Metric::sm_clock},
                                {"fb", Kind::metric, Metric::mem_used}};

// dmon separates by blanks, or by commas with --format csv.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    while (!line.empty()) {
        std::size_t begin = line.find_first_not_of(" \t,\r");
        if (begin == line.npos) break;
        line.remove_prefix(begin);
        std::size_t end = std::min(line.find_first_of(" \t,\r"), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

// A column of nvidia-smi from which no metric is read; under the name of a metric it needs a value of that metric.
LogColumn other_column(std::string name, std::string unit) {
    for (const MetricSpec& spec : kMetrics)
        if (spec.name == name) return {Kind::metric, spec.metric, std::move(name), std::move(unit)};
    return {Kind::other, {}, std::move(name), std::move(unit)};
}

std::optional<std::vector<LogColumn>> dmon_header(std::string_view line) {
    std::vector<LogColumn> columns;
    for (const std::string& word : words_of(line.substr(1))) {
        LogColumn column = other_column(word, {});
        for (const DmonColumn& known : kDmon)
            if (word == known.name) column = {known.kind, known.metric, word, {}};
        columns.push_back(std::move(column));
    }
    bool has_gpu = std::any_of(columns.begin(), columns.end(), [](const auto& c) { return c.kind == Kind::index; });
    return has_gpu && columns.size() > 1 ? std::optional(std::move(columns)) : std::nullopt;
}

LogColumn query_column(std::string_view title) {
    std::string_view name = smi::without_unit(title);
    constexpr std::pair<std::string_view, Kind> kFacts[] = {
        {"timestamp", Kind::time}, {"index", Kind::index},    {"uuid", Kind::uuid}, {"gpu_uuid", Kind::uuid},
        {"pci.bus_id", Kind::bus}, {"gpu_bus_id", Kind::bus}, {"name", Kind::name}, {"gpu_name", Kind::name}};
    for (auto [known, kind] : kFacts)
        if (name == known) return {kind, {}, {}, {}};
    std::string_view unit;
    if (title.ends_with(']')) unit = title.substr(title.rfind('[') + 1);
    if (!unit.empty()) unit.remove_suffix(1);
    const smi::Field* field = smi::field_of(name);
    if (field != nullptr && field->metric) return {Kind::metric, *field->metric, {}, std::string(unit)};
    return other_column(std::string(name), std::string(unit));
}

// A field name of nvidia-smi: lower-case words with periods and underscores.
bool is_field_name(std::string_view name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._") == name.npos &&
           name.find_first_of("abcdefghijklmnopqrstuvwxyz") != name.npos;
}

std::optional<std::vector<LogColumn>> query_header(std::string_view line) {
    std::vector<std::string> cells = smi::split_cells(line, 0);
    std::vector<LogColumn> columns;
    std::size_t known = 0;
    for (const std::string& cell : cells) {
        if (!is_field_name(smi::without_unit(cell))) return std::nullopt;
        columns.push_back(query_column(cell));
        known += columns.back().kind != Kind::other || smi::field_of(smi::without_unit(cell)) != nullptr ? 1 : 0;
    }
    return known >= 2 ? std::optional(std::move(columns)) : std::nullopt;
}

// The numbers in a text, whatever is between them: "2026/11/21 19:11:02.123" has seven.
std::vector<std::int64_t> numbers_in(std::string_view text) {
    std::vector<std::int64_t> numbers;
    const char *at = text.data(), *end = at + text.size();
    while (at < end && numbers.size() < 8) {
        std::int64_t value = 0;
        auto [stop, error] = std::from_chars(at, end, value);
        if (error == std::errc{} && value >= 0) numbers.push_back(value);
        at = error == std::errc{} && stop > at ? stop : at + 1;
    }
    return numbers;
}

// Year, month, day, hour, minute, second as UTC.
std::optional<TimeNs> time_from(const std::vector<std::int64_t>& n) {
    using namespace std::chrono;
    if (n.size() < 6 || n[0] < 1970 || n[0] > 2200 || n[3] > 23 || n[4] > 59 || n[5] > 60) return std::nullopt;
    year_month_day day{year(static_cast<int>(n[0])), month(static_cast<unsigned>(std::min<std::int64_t>(n[1], 99))),
                       std::chrono::day(static_cast<unsigned>(std::min<std::int64_t>(n[2], 99)))};
    if (!day.ok()) return std::nullopt;
    std::int64_t seconds_of_day = n[3] * 3600 + n[4] * 60 + n[5];
    return (std::int64_t{sys_days(day).time_since_epoch().count()} * 86400 + seconds_of_day) * 1'000'000'000;
}

// "2026/11/21 19:11:02.123".
std::optional<TimeNs> query_time(std::string_view cell) {
    std::size_t point = std::min(cell.find('.'), cell.size());
    std::optional<TimeNs> time = time_from(numbers_in(cell.substr(0, point)));
    if (!time) return std::nullopt;
    TimeNs unit = 100'000'000;
    for (char c : cell.substr(std::min(point + 1, cell.size()))) {
        if (c < '0' || c > '9') return std::nullopt;
        *time += (c - '0') * unit;
        unit /= 10;
    }
    return time;
}

// "20261121" and "19:11:02"; a time of day alone is not a time.
std::optional<TimeNs> dmon_time(std::string_view date, std::string_view clock) {
    if (date.size() != 8) return std::nullopt;
    std::vector<std::int64_t> numbers =
        numbers_in(fmt::format("{} {} {} {}", date.substr(0, 4), date.substr(4, 2), date.substr(6), clock));
    return time_from(numbers);
}

}  // namespace

std::optional<std::vector<LogColumn>> header_of(std::string_view line) {
    line = smi::trim(line);
    if (line.empty()) return std::nullopt;
    return line[0] == '#' ? dmon_header(line) : query_header(line);
}

void Log::take(std::string_view line, std::uint64_t number) {
    line = smi::trim(line);
    if (line.empty()) return;
    if (auto columns = header_of(line)) {
        columns_ = std::move(*columns);
        dmon_ = line[0] == '#';
        return;
    }
    if (line[0] == '#' && take_units(line)) return;
    std::vector<std::string> cells = dmon_ ? words_of(line) : smi::split_cells(line, columns_.size());
    if (columns_.empty() || cells.size() != columns_.size())
        return batch_.lose(Loss::malformed_event, fmt::format("line {}", number));
    Moment at{time_of(cells), device_of(cells)};
    (at.time ? timed_ : untimed_) = true;
    describe(cells, at.device);
    for (std::size_t i = 0; i < cells.size(); ++i) sample(at, columns_[i], cells[i], number);
}

// dmon's second line: "# Idx W C ...".
bool Log::take_units(std::string_view line) {
    std::vector<std::string> words = words_of(line.substr(1));
    if (!dmon_ || words.size() != columns_.size()) return false;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] != "-") columns_[i].unit = words[i];
    return true;
}

std::int32_t Log::device_of(const std::vector<std::string>& cells) {
    for (Kind kind : {Kind::index, Kind::uuid, Kind::bus})
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (columns_[i].kind != kind) continue;
            if (kind != Kind::index)
                return known_.try_emplace(cells[i], static_cast<std::int32_t>(known_.size())).first->second;
            std::optional<double> index = smi::number_of(cells[i]);
            if (index && *index >= 0 && *index < 4096) return static_cast<std::int32_t>(*index);
        }
    return -1;
}

std::optional<TimeNs> Log::time_of(const std::vector<std::string>& cells) const {
    std::string_view date, clock;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (columns_[i].kind == Kind::time) return query_time(cells[i]);
        if (columns_[i].kind == Kind::date) date = cells[i];
        if (columns_[i].kind == Kind::clock) clock = cells[i];
    }
    return dmon_time(date, clock);
}

void Log::describe(const std::vector<std::string>& cells, std::int32_t device) {
    if (device < 0 || !described_.try_emplace(device, true).second) return;
    DeviceTable& table = batch_.tables.device;
    Row row = table.add();
    table.device.set(row, device);
    table.vendor.set(row, batch_.intern("nvidia"));
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].empty() || smi::problem_of(cells[i])) continue;
        if (columns_[i].kind == Kind::name) table.name.set(row, batch_.intern(cells[i]));
        if (columns_[i].kind == Kind::uuid) table.uuid.set(row, batch_.intern(cells[i]));
    }
}

void Log::sample(const Moment& at, const LogColumn& column, const std::string& cell, std::uint64_t number) {
    if (column.kind != Kind::metric && column.kind != Kind::other) return;
    if (cell == "-" || cell.empty()) return;
    std::optional<double> value;
    std::string_view name = column.title, unit = column.unit;
    if (column.kind == Kind::metric) {
        smi::MetricCell read = smi::read_metric(column.metric, cell);
        bool wrong = read.problem == smi::Problem::unreadable || read.problem == smi::Problem::implausible;
        if (!read.value && wrong) batch_.lose(Loss::bad_number, fmt::format("line {}: {}", number, cell));
        value = read.value;
        name = spec_of(column.metric).name;
        unit = name_of(spec_of(column.metric).unit);
    } else {
        value = smi::number_of(cell);  // a field of words is not a number
    }
    if (!value) return;
    SampleTable& table = batch_.tables.sample;
    Row row = table.add();
    set_known(table.time, row, at.time);
    if (at.device >= 0) table.device.set(row, at.device);
    table.metric.set(row, batch_.intern(name));
    set_text(batch_, table.unit, row, unit);
    table.value.set(row, *value);
}

std::string_view Log::about_times() const {
    if (timed_) return "local times of the machine, read as UTC: nvidia-smi does not record the time zone";
    return untimed_ ? "no times in the log; record them with --query-gpu=timestamp,... or dmon -o DT" : "";
}

}  // namespace gpuprof::importers::smi_log
