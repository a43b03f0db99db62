#include "io/importers/ncu/ncu_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>

#include "core/schema/counter_units.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::ncu {
namespace {

// Without the instances of a sum, and without group separators other than decimal marks: blanks, no-break spaces,
// apostrophes.
std::string bare(std::string_view text) {
    text = text.substr(0, text.find(" ("));
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string_view rest = text.substr(i);
        if (rest.starts_with("\xC2\xA0")) {
            i += 1;
        } else if (rest.starts_with("\xE2\x80\xAF") || rest.starts_with("\xE2\x80\x99")) {
            i += 2;
        } else if (text[i] != ' ' && text[i] != '\'') {
            kept += text[i];
        }
    }
    return kept;
}

struct MarkCounts {
    std::size_t points, commas, last, digits_after, digits_before;
    bool sound;  // digits, marks, a sign and an exponent only
};

MarkCounts marks_in(std::string_view text) {
    std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    std::size_t end = std::min(text.find_first_of("eE"), text.size());
    std::string_view digits = text.substr(sign, end - sign);
    MarkCounts marks{};
    marks.points = static_cast<std::size_t>(std::count(digits.begin(), digits.end(), '.'));
    marks.commas = static_cast<std::size_t>(std::count(digits.begin(), digits.end(), ','));
    marks.last = digits.find_last_of(".,");
    marks.digits_after = marks.last == digits.npos ? 0 : digits.size() - marks.last - 1;
    marks.digits_before = std::min(digits.find_first_of(".,"), digits.size());
    bool zero = marks.digits_before == 1 && digits[0] == '0';
    if (zero || marks.digits_before > 3) marks.digits_before = 0;  // no group can start like this
    marks.sound = !digits.empty() && digits.find_first_not_of("0123456789.,") == digits.npos &&
                  digits.find_first_of("0123456789") != digits.npos;
    return marks;
}

}  // namespace

DecimalMark mark_of(std::string_view text) {
    std::string number = bare(text);
    MarkCounts marks = marks_in(number);
    if (!marks.sound || marks.points + marks.commas == 0) return DecimalMark::unknown;
    if (marks.points > 0 && marks.commas > 0)
        return number.rfind('.') > number.rfind(',') ? DecimalMark::point : DecimalMark::comma;
    if (marks.points + marks.commas > 1) return marks.points > 0 ? DecimalMark::comma : DecimalMark::point;
    if (marks.digits_after == 3 && marks.digits_before > 0) return DecimalMark::unknown;
    return marks.points > 0 ? DecimalMark::point : DecimalMark::comma;
}

std::optional<double> number_of(std::string_view text, DecimalMark mark) {
    std::string number = bare(text);
    if (!marks_in(number).sound) return std::nullopt;
    if (DecimalMark own = mark_of(number); own != DecimalMark::unknown) mark = own;
    char decimal = mark == DecimalMark::comma ? ',' : '.', group = mark == DecimalMark::comma ? '.' : ',';
    std::erase(number, group);
    std::replace(number.begin(), number.end(), decimal, '.');
    const char* begin = number.data() + (number.starts_with('+') ? 1 : 0);
    const char* end = number.data() + number.size();
    double value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

namespace {

// Columns that identify the launch; all other columns of the raw page are metrics.
constexpr std::string_view kLaunchColumns[] = {"ID",      "Process ID",  "Process Name", "Host Name",  "Kernel Name",
                                               "Context", "Stream",      "Block Size",   "Grid Size",  "Device",
                                               "CC",      "Kernel Time", "Thread Name",  "Invocations"};

bool names_launch(std::string_view column) {
    return std::find(std::begin(kLaunchColumns), std::end(kLaunchColumns), column) != std::end(kLaunchColumns);
}

// Placeholders for a missing value.
bool no_value(std::string_view text) {
    return text.empty() || text == "n/a" || text == "N/A" || text == "nan" || text == "no data" ||
           text.starts_with("(!)");
}

// "(256, 1, 1)".
std::optional<std::array<std::int32_t, 3>> shape_of(std::string_view text) {
    if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::array<std::int32_t, 3> shape{};
    for (std::size_t i = 0; i < 3; ++i) {
        std::size_t end = std::min(text.find(','), text.size());
        auto value = number_in<std::int32_t>(text.substr(0, end));
        if (!value || (i < 2 && end == text.size())) return std::nullopt;
        shape[i] = *value;
        text.remove_prefix(std::min(end + 1, text.size()));
        while (text.starts_with(' ')) text.remove_prefix(1);
    }
    return shape;
}

// "9.0".
std::pair<std::optional<std::int32_t>, std::optional<std::int32_t>> capability_of(std::string_view cc) {
    std::size_t point = std::min(cc.find('.'), cc.size());
    return {number_in<std::int32_t>(cc.substr(0, point)),
            number_in<std::int32_t>(cc.substr(std::min(point + 1, cc.size())))};
}

}  // namespace

bool is_header(std::string_view line) { return line.starts_with("\"ID\",\"Process ID\",\"Process Name\","); }

const std::string& Reader::field(const std::vector<std::string>& fields, std::string_view name) const {
    static const std::string kNone;
    auto known = columns_.find(name);
    return known == columns_.end() || known->second >= fields.size() ? kNone : fields[known->second];
}

bool Reader::take(const std::vector<std::string>& fields, std::uint64_t line) {
    if (take_header(fields)) return true;
    if (tables_ == 0 || fields.size() > width_) return false;
    if (units_due_ && take_units(fields)) return true;
    if (!number_in<std::int64_t>(field(fields, "ID")) || field(fields, "Kernel Name").empty()) return false;
    // A line of details may omit the columns of rules; a line of metrics has all columns.
    if (raw_ && fields.size() != width_) {
        batch_.lose(Loss::malformed_event, fmt::format("line {}", line));
        return true;
    }
    std::int64_t launch = launch_of(fields);
    if (raw_) {
        for (const Metric& metric : metrics_) counter(launch, {}, metric.name, metric.unit, fields[metric.column]);
    } else if (const std::string& metric = field(fields, "Metric Name"); !metric.empty()) {
        counter(launch, field(fields, "Section Name"), metric, field(fields, "Metric Unit"),
                field(fields, "Metric Value"));
    } else {
        advice(launch, fields);
    }
    return true;
}

bool Reader::take_header(const std::vector<std::string>& fields) {
    if (fields.size() < 5 || fields[0] != "ID" || fields[1] != "Process ID") return false;
    ++tables_;
    width_ = fields.size();
    columns_.clear();
    metrics_.clear();
    for (std::size_t i = 0; i < fields.size(); ++i) columns_.try_emplace(fields[i], i);
    raw_ = units_due_ = !columns_.contains("Metric Name");
    for (std::size_t i = 0; i < fields.size() && raw_; ++i)
        if (!names_launch(fields[i]) && columns_[fields[i]] == i) metrics_.push_back({i, fields[i], {}});
    return true;
}

// The line under the header of the raw page.
bool Reader::take_units(const std::vector<std::string>& fields) {
    units_due_ = false;
    if (fields.size() != width_ || !field(fields, "ID").empty()) return false;
    for (Metric& metric : metrics_) metric.unit = fields[metric.column];
    return true;
}

// The number assigned by ncu; an unused one if several processes or tables share it.
std::int64_t Reader::launch_of(const std::vector<std::string>& fields) {
    auto [known, added] = launches_.try_emplace({tables_, field(fields, "ID"), field(fields, "Process ID")}, 0);
    if (!added) return known->second;
    std::int64_t number = *number_in<std::int64_t>(field(fields, "ID"));
    if (numbers_used_.contains(number)) number = *numbers_used_.rbegin() + 1;
    numbers_used_.insert(number);
    known->second = number;
    describe(fields, number);
    return number;
}

StringId Reader::process_of(const std::vector<std::string>& fields) {
    const std::string& pid = field(fields, "Process ID");
    if (pid.empty()) return kNoString;
    if (processes_.insert(pid).second) {
        ProcessTable& table = batch_.tables.process;
        Row row = table.add();
        table.key.set(row, batch_.intern(pid));
        set_known(table.pid, row, number_in<std::int64_t>(pid));
        set_text(batch_, table.name, row, field(fields, "Process Name"));
        set_text(batch_, table.host, row, field(fields, "Host Name"));
    }
    return batch_.intern(pid);
}

void Reader::device_of(const std::vector<std::string>& fields) {
    auto device = number_in<std::int32_t>(field(fields, "Device"));
    if (!device || !devices_.insert(*device).second) return;
    DeviceTable& table = batch_.tables.device;
    Row row = table.add();
    table.device.set(row, *device);
    table.vendor.set(row, batch_.intern("nvidia"));
    set_text(batch_, table.name, row, field(fields, "device__attribute_display_name"));
    auto [major, minor] = capability_of(field(fields, "CC"));
    if (!major || !minor) return;
    table.cc_major.set(row, *major);
    table.cc_minor.set(row, *minor);
}

void Reader::describe(const std::vector<std::string>& fields, std::int64_t launch) {
    device_of(fields);
    ProfiledKernelTable& table = batch_.tables.profiled_kernel;
    Row row = table.add();
    table.launch.set(row, launch);
    set_known(table.process, row, process_of(fields));
    auto device = number_in<std::int32_t>(field(fields, "Device"));
    set_known(table.device, row, device);
    set_known(table.context, row, number_in<std::int32_t>(field(fields, "Context")));
    set_known(table.stream, row, number_in<std::int64_t>(field(fields, "Stream")));
    table.name.set(row, batch_.intern(field(fields, "Kernel Name")));
    if (auto grid = shape_of(field(fields, "Grid Size"))) {
        table.grid_x.set(row, (*grid)[0]);
        table.grid_y.set(row, (*grid)[1]);
        table.grid_z.set(row, (*grid)[2]);
    }
    if (auto block = shape_of(field(fields, "Block Size"))) {
        table.block_x.set(row, (*block)[0]);
        table.block_y.set(row, (*block)[1]);
        table.block_z.set(row, (*block)[2]);
    }
    table.kind.set(row, batch_.intern("kernel"));
    table.tool.set(row, batch_.intern("Nsight Compute"));
    auto [major, minor] = capability_of(field(fields, "CC"));
    if (!major || !minor) return;
    table.cc_major.set(row, *major);
    table.cc_minor.set(row, *minor);
}

void Reader::advice(std::int64_t launch, const std::vector<std::string>& fields) {
    if (field(fields, "Rule Name").empty() && field(fields, "Rule Description").empty()) return;
    KernelAdviceTable& table = batch_.tables.kernel_advice;
    Row row = table.add();
    table.launch.set(row, launch);
    auto text = [&](auto& column, std::string_view name) { set_text(batch_, column, row, field(fields, name)); };
    text(table.section, "Section Name");
    text(table.rule, "Rule Name");
    text(table.kind, "Rule Type");
    text(table.text, "Rule Description");
    text(table.gain_kind, "Estimated Speedup Type");
    gains_.push_back(batch_.intern(field(fields, "Estimated Speedup")));
}

void Reader::resolve_gains(DecimalMark mark) {
    KernelAdviceTable& table = batch_.tables.kernel_advice;
    for (Row row = 0; row < table.rows; ++row)
        set_known(table.gain_pct, row, number_of(batch_.strings[gains_[row]], mark));
    table.close();
}

void Reader::counter(std::int64_t launch, std::string_view section, const std::string& metric, const std::string& unit,
                     const std::string& value) {
    if (no_value(value)) return;
    KernelCounterTable& table = batch_.tables.kernel_counter;
    Row row = table.add();
    table.launch.set(row, launch);
    set_text(batch_, table.section, row, section);
    table.metric.set(row, batch_.intern(metric));
    if (!unit.empty()) {
        table.unit.set(row, batch_.intern(unit));
        auto [known, added] = is_known_unit_.try_emplace(unit, false);
        if (added) known->second = base_unit_of(unit).has_value();
        if (!known->second) batch_.lose_named(Loss::unknown_unit, "", unit);
    }
    values_.push_back(batch_.intern(value));
    DecimalMark mark = mark_of(value);
    points_ += mark == DecimalMark::point ? 1 : 0;
    commas_ += mark == DecimalMark::comma ? 1 : 0;
}

void Reader::finish() {
    DecimalMark mark = points_ >= commas_ ? DecimalMark::point : DecimalMark::comma;
    KernelCounterTable& table = batch_.tables.kernel_counter;
    std::vector<std::optional<double>> numbers(values_.size());
    for (Row row = 0; row < table.rows; ++row) {
        std::string_view text = batch_.strings[values_[row]];
        numbers[row] = number_of(text, mark);
        if (numbers[row]) table.value.set(row, *numbers[row]);
        // The values of a metric's instances stay readable next to their sum.
        if (!numbers[row] || text.find(" (") != text.npos) table.text.set(row, values_[row]);
    }
    table.close();
    resolve_durations(numbers);
    resolve_gains(mark);
}

void Reader::resolve_durations(const std::vector<std::optional<double>>& numbers) {
    constexpr double kMaxDuration = 1e18;  // ns
    const KernelCounterTable& counters = batch_.tables.kernel_counter;
    std::unordered_map<std::int64_t, DurNs> durations;
    for (Row row = 0; row < counters.rows; ++row) {
        std::string_view metric = batch_.strings[counters.metric[row]];
        if (metric != "gpu__time_duration.sum" && metric != "Duration") continue;
        std::optional<BaseUnit> unit = base_unit_of(batch_.strings[counters.unit.value_or(row, kNoString)]);
        if (!unit || unit->name != "ns") continue;
        double ns = unit->factor * numbers[row].value_or(0);
        if (ns > 0 && ns < kMaxDuration) durations[counters.launch[row]] = std::llround(ns);
    }
    ProfiledKernelTable& table = batch_.tables.profiled_kernel;
    for (Row row = 0; row < table.rows; ++row)
        if (auto known = durations.find(table.launch[row]); known != durations.end()) table.dur.set(row, known->second);
}

}  // namespace gpuprof::importers::ncu
