// Samples and counts of instructions. Stall reasons have the names of CUPTI's samples, so `source` and the limits of kernels read
// them as those that `counters --source` records. Columns are found by their names: each version has others.
#include <algorithm>
#include <string>

#include "io/importers/ncu/ncu_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::ncu {
namespace {

constexpr std::string_view kKernelName = "Kernel Name", kStall = "stall_", kNotIssued = " (Not Issued)";

struct Named {
    std::string_view theirs, ours;
};
// By the columns' names after "stall_". Those that are not listed have the same name.
constexpr Named kReasons[] = {{"long_sb", "long_scoreboard"},
                              {"short_sb", "short_scoreboard"},
                              {"lg", "lg_throttle"},
                              {"mio", "mio_throttle"},
                              {"tex", "tex_throttle"},
                              {"math", "math_pipe_throttle"},
                              {"branch_resolve", "branch_resolving"},
                              {"no_inst", "no_instructions"},
                              {"no_instruction", "no_instructions"},
                              {"imc", "imc_miss"},
                              {"gmma", "warpgroup_arrive"},
                              {"dispatch", "dispatch_stall"},
                              {"sleep", "sleeping"}};
constexpr Named kCounts[] = {
    {"Instructions Executed", "smsp__sass_inst_executed"},
    {"Thread Instructions Executed", "smsp__sass_thread_inst_executed"},
    {"Predicated-On Thread Instructions Executed", "smsp__sass_thread_inst_executed_pred_on"},
    {"Divergent Branches", "smsp__sass_branch_targets_threads_divergent"},
    {"L2 Theoretical Sectors Global", "smsp__sass_sectors_mem_global"},
    {"L2 Theoretical Sectors Global Ideal", "smsp__sass_sectors_mem_global_ideal"},
    {"L1 Wavefronts Shared", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"},
    {"L1 Wavefronts Shared Ideal", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"},
};

// The counter in a column; "" for others.
std::string metric_of(std::string_view column) {
    for (const Named& count : kCounts)
        if (count.theirs == column) return std::string(count.ours);
    if (!column.starts_with(kStall)) return "";
    bool not_issued = column.ends_with(kNotIssued);
    if (not_issued) column.remove_suffix(kNotIssued.size());
    std::string reason(column.substr(kStall.size()));
    for (const Named& known : kReasons)
        if (known.theirs == reason) reason = known.ours;
    return "samples." + reason + (not_issued ? "_not_issued" : "");
}

// All numbers of the page are counts, so every separator is one of groups.
std::optional<double> count_in(std::string text) {
    std::erase_if(text, [](char c) { return c == ',' || c == '.' || c == '\'' || c == ' '; });
    auto value = number_in<std::int64_t>(text);
    return value && *value >= 0 ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<std::uint64_t> address_in(std::string_view text) {
    return text.starts_with("0x") ? number_in<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

}  // namespace

bool SourcePage::is_in(std::string_view head) {
    std::size_t at = head.find("\"Kernel Name\",\"");
    if (at == head.npos || (at > 0 && head[at - 1] != '\n')) return false;
    head.remove_prefix(std::min(head.find('\n', at), head.size()));
    return head.find("\"Source\",") != head.npos &&
           (head.find("\"# Samples\"") != head.npos || head.find("Warp Stall Sampling") != head.npos ||
            head.find("\"Instructions Executed\"") != head.npos);
}

bool SourcePage::take(const std::vector<std::string>& fields, std::uint64_t line) {
    bool only_two = fields.size() == 2 || (fields.size() == 3 && fields[2].empty());
    if (only_two && fields[0] == kKernelName) {
        ++kernels_;
        kernel_ = batch_.intern(fields[1]);
        file_ = kNoString;
        first_.reset();
        line_.reset();
        width_ = 0;
        return true;
    }
    if (kernel_ == kNoString) return false;
    if (only_two && fields[0].starts_with("File")) {
        file_ = batch_.intern(fields[1]);
        line_.reset();
        return true;
    }
    if (std::find(fields.begin(), fields.end(), "Source") != fields.end()) {
        take_header(fields);
        return true;
    }
    if (width_ == 0) return false;
    if (fields.size() != width_ && !(fields.size() == width_ + 1 && fields.back().empty())) {
        batch_.lose(Loss::malformed_event, "line " + std::to_string(line));
        return true;
    }
    take_row(fields);
    return true;
}

void SourcePage::take_header(const std::vector<std::string>& fields) {
    width_ = fields.size() - (fields.back().empty() ? 1 : 0);
    counters_.clear();
    auto place_of = [&](std::string_view name) -> std::optional<std::size_t> {
        auto found = std::find(fields.begin(), fields.end(), name);
        if (found == fields.end()) return std::nullopt;
        return static_cast<std::size_t>(found - fields.begin());
    };
    address_ = place_of("Address");
    line_column_ = place_of("#");
    source_ = place_of("Source");
    bool reasons = false;
    StringId count = batch_.intern("inst"), samples = batch_.intern("warp");
    for (std::size_t i = 0; i < width_; ++i) {
        std::string metric = metric_of(fields[i]);
        bool first = place_of(fields[i]) == i;  // some names occur twice
        if (metric.empty() || !first) continue;
        bool sampled = metric.starts_with("samples.");
        reasons |= sampled;
        bool amounts = metric.find("sectors") != metric.npos || metric.find("wavefronts") != metric.npos;
        counters_.push_back({i, batch_.intern(metric), sampled ? samples : amounts ? kNoString : count});
    }
    if (auto all = place_of("# Samples"); all && !reasons)
        counters_.push_back({*all, batch_.intern("samples.unknown"), samples});
}

// A source line above its instructions repeats their sums, so it is only where they come from.
void SourcePage::take_row(const std::vector<std::string>& fields) {
    std::optional<std::uint64_t> address = address_ ? address_in(fields[*address_]) : std::nullopt;
    if (line_column_)
        if (auto number = count_in(fields[*line_column_]); number && *number < 1e9)
            line_ = static_cast<std::int32_t>(*number);
    if (address_ && !address) return;
    if (address && !first_) first_ = address;
    InstructionCounterTable& table = batch_.tables.instruction_counter;
    for (const Counter& counter : counters_) {
        auto value = count_in(fields[counter.column]);
        if (!value) continue;
        Row row = table.add();
        table.function.set(row, kernel_);
        if (address && *address >= *first_) table.offset.set(row, static_cast<std::int64_t>(*address - *first_));
        if (address && !fields[*source_].empty()) table.text.set(row, batch_.intern(fields[*source_]));
        set_known(table.file, row, file_);
        set_known(table.line, row, line_);
        table.metric.set(row, counter.metric);
        set_known(table.unit, row, counter.unit);
        table.value.set(row, *value);
    }
}

}  // namespace gpuprof::importers::ncu
