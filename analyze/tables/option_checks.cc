#include "analyze/tables/option_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/facts/name_groups.h"
#include "analyze/replay/changes.h"
#include "core/base/text/close_match.h"
#include "core/base/text/function_name.h"
#include "core/base/text/pattern.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::string_view kOptionNames[] = {
#define GPUPROF_OPTION_TEXT(name, type, initial, value, doc) #name,
    GPUPROF_OPTIONS(GPUPROF_OPTION_TEXT)
#undef GPUPROF_OPTION_TEXT
};
constexpr std::size_t kAnalysisOptions = std::size(kOptionNames);
constexpr std::size_t kMaxListed = 8;  // names of a recording in one message

// "`a`, `b` and `c`"
std::string listed(const std::vector<std::string_view>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
    return text;
}

// "no KIND is named 'NAME'", with the nearest of `known`, or some of them.
Error nothing_named(AnalysisOption option, std::string_view kind, std::string_view name,
                    const std::vector<std::string_view>& known) {
    std::string hint = did_you_mean(name, known);
    if (hint.empty() && !known.empty())
        hint = fmt::format("; this recording has {}{}",
                           fmt::join(known.begin(), known.begin() + std::min(known.size(), kMaxListed), ", "),
                           known.size() > kMaxListed ? fmt::format(" and {} more", known.size() - kMaxListed) : "");
    return {ExitCode::usage, fmt::format("{} '{}': no {} of this recording has this name{}", flag_of(option), name,
                                         kind, hint.empty() ? "; it has none" : hint)};
}

// The distinct names in tables with a `name`, in the order of their ids.
template <class... Table>
std::vector<std::string_view> names_in_tables(const Trace& trace, const Table&... tables) {
    std::set<StringId> ids;
    auto add = [&](const auto& table) {
        StringId last = kNoString;
        for (Row row = 0; row < table.rows; ++row)
            if (StringId name = table.name.value_or(row, kNoString); name != last) ids.insert(last = name);
    };
    (add(tables), ...);
    ids.erase(kNoString);
    std::vector<std::string_view> names;
    for (StringId id : ids) names.push_back(trace.text(id));
    return names;
}

bool has_name(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Status check_device(const Trace& trace, std::int64_t wanted) {
    if (wanted < 0) return {};
    std::set<std::int64_t> devices;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        if constexpr (requires { table.device.value_or(Row{}, -1); })
            for (Row row = 0; row < table.rows && !devices.contains(wanted); ++row)
                if (std::int64_t device = table.device.value_or(row, -1); device >= 0) devices.insert(device);
    });
    if (devices.contains(wanted)) return {};
    if (devices.empty())
        return Error{ExitCode::usage, fmt::format("--device {}: this recording has no device", wanted)};
    return Error{ExitCode::usage, fmt::format("--device {}: no such device in this recording; it has device{} {}",
                                              wanted, devices.size() == 1 ? "" : "s", fmt::join(devices, ", "))};
}

// Kernels of the timeline, and those with counters or samples: what `--kernel` selects from.
Status check_kernel(const Facts& facts) {
    const std::string& wanted = facts.options().kernel;
    if (wanted.empty()) return {};
    const Trace& trace = facts.trace();
    std::vector<std::string_view> names = names_in_tables(trace, trace.kernel(), trace.tables().profiled_kernel);
    for (const SourceLineCounters& line : facts.get<SourceLines>().lines) names.push_back(trace.text(line.function));
    for (std::string_view name : names)
        if (is_selected(facts, name)) return {};
    std::vector<std::string> functions;
    for (std::string_view name : names) functions.push_back(short_name(name));
    std::sort(functions.begin(), functions.end());
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
    return nothing_named(AnalysisOption::kernel, "kernel", wanted, {functions.begin(), functions.end()});
}

Status check_changes(const Facts& facts) {
    Result<std::vector<Edit>> edits = parse_edits(facts.options().changes);
    if (!edits.ok()) return edits.error();
    for (const Edit& edit : *edits) {
        if (edit.change != Change::kernels) continue;
        const KernelNames& kernels = facts.get<KernelNames>();
        const std::size_t count = kernels.order.size();
        if (edit.kernel > count)
            return Error{ExitCode::usage,
                         fmt::format("change '{}': no kernel has this handle; {}", text_of(edit),
                                     count == 0 ? "this recording has no kernels"
                                                : fmt::format("this recording has k-1 to k-{}", count))};
        if (edit.kernel > 0) continue;
        Result<Pattern> pattern = Pattern::compile(edit.pattern);
        std::vector<std::string_view> names = names_in_tables(facts.trace(), facts.trace().kernel());
        if (pattern.ok() && std::none_of(names.begin(), names.end(), [&](auto name) { return pattern->matches(name); }))
            return Error{ExitCode::usage,
                         fmt::format("change '{}': no kernel's name matches; `kernels` lists them", text_of(edit))};
    }
    return {};
}

}  // namespace

std::string flag_of(AnalysisOption option) {
    std::string flag = fmt::format("--{}", kOptionNames[static_cast<std::size_t>(option)]);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

OptionSet given_options(const Options& options) {
    static const Options kUsual;
    OptionSet given;
#define GPUPROF_OPTION_GIVEN(name, type, initial, value, doc) \
    if (options.name != kUsual.name) given.add(AnalysisOption::name);
    GPUPROF_OPTIONS(GPUPROF_OPTION_GIVEN)
#undef GPUPROF_OPTION_GIVEN
    return given;
}

std::string readers_of(AnalysisOption option, std::span<const Analysis* const> all) {
    std::vector<std::string_view> readers;
    for (const Analysis* analysis : all)
        if (analysis->reads(option)) readers.push_back(analysis->name);
    return listed(readers);
}

Status check_options(const Options& options, std::span<const Analysis* const> shown,
                     std::span<const Analysis* const> all) {
    OptionSet given = given_options(options);
    for (std::size_t i = 0; i < kAnalysisOptions; ++i) {
        auto option = static_cast<AnalysisOption>(i);
        if (!given.has(option) ||
            std::any_of(shown.begin(), shown.end(), [&](const Analysis* each) { return each->reads(option); }))
            continue;
        std::vector<std::string_view> names;
        for (const Analysis* each : shown) names.push_back(each->name);
        std::string readers = option == AnalysisOption::step_range ? "other analyses" : readers_of(option, all);
        return Error{ExitCode::usage, fmt::format("{} is not used by {}; it is an option of {}", flag_of(option),
                                                  names.empty() ? "this query" : listed(names), readers)};
    }
    return {};
}

Status check_names(const Trace& trace, const Options& options) {
    if (Status known = check_device(trace, options.device); !known) return known;
    if (!options.step_range.empty()) {
        std::vector<std::string_view> names = names_in_tables(trace, trace.range());
        for (std::string_view name : names_in_tables(trace, trace.op())) names.push_back(name);
        if (std::none_of(names.begin(), names.end(), [&](auto name) { return matches_glob(options.step_range, name); }))
            return nothing_named(AnalysisOption::step_range, "range or operator", options.step_range, names);
    }
    if (!options.input_range.empty()) {
        std::vector<std::string_view> names =
            names_in_tables(trace, trace.range(), trace.op(), trace.tables().python_call);
        if (!has_name(names, options.input_range))
            return nothing_named(AnalysisOption::input_range, "range, operator or Python function", options.input_range,
                                 names);
    }
    if (options.kernel.empty() && options.changes.empty()) return {};
    Facts facts(trace, options);
    if (Status known = check_kernel(facts); !known) return known;
    return check_changes(facts);
}

}  // namespace gpuprof::tables
