#include "cli/common_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_options.h"
#include "core/base/text/close_match.h"
#include "present/answer/analyses.h"

namespace gpuprof::inline cli {
namespace {

std::string flag_of(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

// Counts are not negative. If the default is negative, it means "every one", and so does `all`.
DeclaredOption& check(DeclaredOption& option, std::int64_t initial) {
    if (initial < 0)
        return option.transform([initial](std::string& text) {
            if (text == "all") text = std::to_string(initial);
        });
    return option.check([](const std::string& text) {
        return text.substr(0, 1) == "-" ? "expected 0 or more, not '" + text + "'" : std::string();
    });
}
template <class Other>
DeclaredOption& check(DeclaredOption& option, const Other&) {
    return option;
}

// A description with the default: "... (default: 20)." for one sentence, else "... Default: 20."
std::string with_default(const std::string& doc, const std::string& text) {
    if (doc.find("(default") != doc.npos) return doc;
    bool one_sentence = doc.find(". ") == doc.npos;
    return one_sentence ? fmt::format("{} (default: {}).", doc.substr(0, doc.size() - 1), text)
                        : fmt::format("{} Default: {}.", doc, text);
}
std::string with_default(const std::string& doc, const std::string& initial, std::string_view) {
    return initial.empty() ? doc : with_default(doc, initial);
}
template <class Number>
std::string with_default(const std::string& doc, Number initial, std::string_view value_name) {
    if (initial < 0) return with_default(doc, std::string("all"));
    return with_default(doc, fmt::format("{}{}", initial, value_name == "NS" ? " ns" : ""));
}

}  // namespace

std::string readers_of(AnalysisOption option) {
    std::vector<std::string_view> names;
    for (const Analysis* analysis : analyses())
        if (analysis->reads(option)) names.push_back(analysis->name);
    return joined(names);
}

void declare_options(CommandLine& line, Options& options, OptionSet read) {
#define GPUPROF_OPTION_FLAG(name, type, initial, value_name, doc)                                                      \
    if (!read.has(AnalysisOption::name))                                                                               \
        line.refused(flag_of(#name), "an option of report, for " + readers_of(AnalysisOption::name));                  \
    else {                                                                                                             \
        bool of_all = AnalysisOption::name == AnalysisOption::limit ||                                                 \
                      AnalysisOption::name == AnalysisOption::device ||                                                \
                      AnalysisOption::name == AnalysisOption::step_range;                                              \
        std::string text = with_default(doc, options.name, value_name);                                                \
        DeclaredOption option =                                                                                        \
            line.option(flag_of(#name), options.name, of_all ? text : readers_of(AnalysisOption::name) + ": " + text); \
        option.value(value_name).group(of_all ? "Options of every analysis" : "Options of single analyses");           \
        std::string_view(value_name) == "NS" ? option.nanoseconds() : check(option, options.name);                     \
    }
    GPUPROF_OPTIONS(GPUPROF_OPTION_FLAG)
#undef GPUPROF_OPTION_FLAG
}

void declare_options(CommandLine& line, Options& options) {
    OptionSet all;
#define GPUPROF_OPTION_ADD(name, type, initial, value_name, doc) all.add(AnalysisOption::name);
    GPUPROF_OPTIONS(GPUPROF_OPTION_ADD)
#undef GPUPROF_OPTION_ADD
    declare_options(line, options, all);
}

void declare_read_limits(CommandLine& line, ReadLimits& limits) {
    constexpr double kMaxLimit = 1e9;
#define GPUPROF_LIMIT_FLAG(name, initial, value_name, doc)                                                    \
    {                                                                                                         \
        DeclaredOption option = line.option(flag_of(#name), limits.name, with_default(doc, limits.name, "")); \
        std::string_view(value_name) == "S" ? option.seconds(0, kMaxLimit) : option.range(0, kMaxLimit);      \
        option.value(value_name).group(kReadLimitsGroup);                                                     \
    }
    GPUPROF_READ_LIMITS(GPUPROF_LIMIT_FLAG)
#undef GPUPROF_LIMIT_FLAG
}

bool is_path(const std::string& word) {
    std::error_code unknown;
    return word == "-" || std::filesystem::exists(word, unknown);
}

}  // namespace gpuprof::cli
