// Cells, numbers, and the table of fields.
#include "io/smi/smi_cells.h"

#include <algorithm>
#include <charconv>

#include "core/base/text/ascii.h"
#include "core/schema/plausible.h"

namespace gpuprof::inline smi {
namespace {

constexpr Field kFields[] = {
    {"index", "", std::nullopt},
    {"count", "", std::nullopt},
    {"uuid", "gpu_uuid", std::nullopt},
    {"name", "gpu_name", std::nullopt},
    {"pci.bus_id", "gpu_bus_id", std::nullopt},
    {"mig.mode.current", "", std::nullopt},
    {"enforced.power.limit", "power.limit", std::nullopt},
    {"clocks.max.sm", "", std::nullopt},
    {"clocks.max.memory", "clocks.max.mem", std::nullopt},
    {"utilization.gpu", "", Metric::util_gpu},
    {"utilization.memory", "", Metric::util_mem},
    {"memory.used", "", Metric::mem_used},
    {"memory.total", "", Metric::mem_total},
    {"power.draw", "", Metric::power},
    {"temperature.gpu", "", Metric::temp},
    {"clocks.current.sm", "clocks.sm", Metric::sm_clock},
    {"clocks.current.memory", "clocks.mem", Metric::mem_clock},
    {"pstate", "", Metric::pstate},
    {"clocks_event_reasons.active", "clocks_throttle_reasons.active", Metric::throttle},
    {"pcie.link.gen.current", "", Metric::pcie_gen},
    {"pcie.link.width.current", "", Metric::pcie_width},
    {"ecc.errors.corrected.volatile.total", "", Metric::ecc_corrected},
    {"ecc.errors.uncorrected.volatile.total", "", Metric::ecc_uncorrected},
};

struct Suffix {
    std::string_view text;
    double factor;  // into the unit of metrics.def
};
constexpr Suffix kSuffixes[] = {{"%", 1}, {"MiB", 1}, {"GiB", 1024}, {"KiB", 1.0 / 1024}, {"mW", 1e-3},
                                {"W", 1}, {"MHz", 1}, {"C", 1},      {"GHz", 1000}};

struct Word {
    std::string_view text;
    Problem problem;
};
// Contents of brackets, in lower case; "err!" is what the table view prints.
constexpr Word kWords[] = {{"n/a", Problem::unsupported},
                           {"not supported", Problem::unsupported},
                           {"requested functionality has been deprecated", Problem::unsupported},
                           {"not found", Problem::unsupported},
                           {"insufficient permissions", Problem::no_permission},
                           {"unknown error", Problem::unknown_error},
                           {"err!", Problem::unknown_error},
                           {"gpu requires reset", Problem::reset_required},
                           {"gpu requires restart", Problem::reset_required},
                           {"gpu is lost", Problem::lost}};

// Digits with one point at most.
std::optional<double> plain_number(const std::string& digits) {
    std::size_t first = digits.starts_with('-') ? 1 : 0;
    if (digits.find_first_not_of("0123456789.", first) != digits.npos) return std::nullopt;
    if (first >= digits.size() || digits[first] == '.') return std::nullopt;
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

// Whether `separator` stands between groups of three digits, as in 1,234,567; `end` is where the last group ends.
bool groups_of_three(std::string_view text, char separator, std::size_t end) {
    std::size_t last = text.rfind(separator, end - 1);
    for (std::size_t at = last; at != text.npos && at > 0; at = text.rfind(separator, at - 1)) {
        if (end - at != 4) return false;
        end = at;
    }
    return text.find_first_of(".,") >= 1 && text.find_first_of(".,") <= 3;
}

std::optional<double> decimal(std::string_view text) {
    std::size_t comma = text.rfind(','), point = text.rfind('.');
    if (comma == text.npos) return plain_number(std::string(text));
    bool both = point != text.npos;
    char decimal_mark = both && point > comma ? '.' : ',';
    char group_mark = decimal_mark == '.' ? ',' : '.';
    std::size_t mark = decimal_mark == '.' ? point : comma;
    if (std::count(text.begin(), text.end(), decimal_mark) != 1) return std::nullopt;
    if (!both && text.size() - mark == 4) return std::nullopt;  // 1,234 could be either
    if (both && !groups_of_three(text, group_mark, mark)) return std::nullopt;
    std::string digits;
    for (char c : text)
        if (c != group_mark) digits += c == decimal_mark ? '.' : c;
    return plain_number(digits);
}

std::optional<double> pstate_of(std::string_view cell) {
    if (cell.starts_with('P')) cell.remove_prefix(1);
    return number_of(cell);
}

std::vector<std::string> split_at(std::string_view line, std::string_view separator) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            cells.back() += line[++i];
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line.substr(i).starts_with(separator)) {
            cells.emplace_back();
            i += separator.size() - 1;
        } else {
            cells.back() += line[i];
        }
    }
    for (std::string& cell : cells) cell = std::string(trim(cell));
    return cells;
}

}  // namespace

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<Problem> problem_of(std::string_view cell) {
    if (cell.starts_with('[') && cell.ends_with(']')) cell = trim(cell.substr(1, cell.size() - 2));
    std::string lower(cell);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    for (const Word& word : kWords)
        if (lower == word.text) return word.problem;
    return std::nullopt;
}

std::span<const Field> fields() { return kFields; }

std::optional<double> number_of(std::string_view text) {
    text = trim(text);
    double factor = 1;
    for (const Suffix& suffix : kSuffixes) {
        if (!text.ends_with(suffix.text)) continue;
        text = trim(text.substr(0, text.size() - suffix.text.size()));
        factor = suffix.factor;
        break;
    }
    if (text.starts_with("0x")) {
        std::uint64_t bits = 0;
        auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
        return static_cast<double>(bits);
    }
    std::optional<double> value = decimal(text);
    if (value) *value *= factor;
    return value;
}

std::vector<std::string> split_cells(std::string_view line, std::size_t columns) {
    std::vector<std::string> cells = split_at(line, ", ");
    return cells.size() == columns ? cells : split_at(line, ",");
}

std::string_view without_unit(std::string_view header) { return trim(header.substr(0, header.find(" ["))); }

const Field* field_of(std::string_view column) {
    for (const Field& field : kFields)
        if (column == field.query || (!field.older.empty() && column == field.older)) return &field;
    return nullptr;
}

MetricCell read_metric(Metric metric, const std::string& cell) {
    if (std::optional<Problem> problem = problem_of(cell)) return {std::nullopt, *problem};
    std::optional<double> value = metric == Metric::pstate ? pstate_of(cell) : number_of(cell);
    if (!value) return {std::nullopt, Problem::unreadable};
    if (!plausible(metric, *value)) return {std::nullopt, Problem::implausible};
    return {value, {}};
}

}  // namespace gpuprof::smi
