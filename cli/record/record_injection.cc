#include "cli/record/record_injection.h"
#include "cli/command_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kRanges =
    "nvtx:NAME, nvtx:NAME@DOMAIN, cudaProfilerApi, iteration:A-B, iteration:A-B:NAME, start-stop";

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// "A-B", with the given separator.
bool take_steps(std::string_view numbers, char separator, InjectionOptions& options) {
    std::size_t middle = numbers.find(separator);
    if (middle == std::string_view::npos) return false;
    std::optional<std::int64_t> first = whole_number(numbers.substr(0, middle)),
                                last = whole_number(numbers.substr(middle + 1));
    if (!first || !last || *first < 1 || *last < *first) return false;
    options.recorder.range = CaptureRange::iterations;
    options.recorder.first = *first;
    options.recorder.last = *last;
    return true;
}

// "A-B" or "A-B:NAME".
bool take_iterations(std::string_view text, InjectionOptions& options) {
    std::size_t colon = text.find(':');
    if (!take_steps(text.substr(0, colon), '-', options)) return false;
    if (colon != std::string_view::npos) options.annotation = text.substr(colon + 1);
    return true;
}

bool take_range(std::string_view text, InjectionOptions& options) {
    if (text.empty()) return true;
    if (text.substr(0, 5) == "nvtx:" && text.size() > 5 && text[5] != '@') {
        options.recorder.range = CaptureRange::nvtx;
        options.annotation = text.substr(5);
        return true;
    }
    if (text == "cudaProfilerApi") {
        options.recorder.range = CaptureRange::profiler_api;
        return true;
    }
    if (text == "start-stop") {
        options.recorder.range = CaptureRange::calls;
        return true;
    }
    return text.substr(0, 10) == "iteration:" && take_iterations(text.substr(10), options);
}

void declare_setting(CommandLine& line, const SettingOption& option, bool& value) {
    line.flag(std::string(option.flag), value, std::string(option.doc));
}

void declare_setting(CommandLine& line, const SettingOption& option, std::int64_t& value) {
    constexpr double kNsPerSecond = 1e9, kMaxSeconds = 1e6;
    std::string name(option.flag), value_name(option.value), doc(option.doc);
    if (option.kind == SettingOption::seconds)
        line.number_option(
                name, [&value](double s) { value = std::llround(s * kNsPerSecond); }, doc)
            .seconds(0, kMaxSeconds)
            .value(value_name.c_str());
    else
        line.option(name, value, doc).integer_range(option.low, option.high).value(value_name.c_str());
}

template <class Choice>
requires std::is_enum_v<Choice>
void declare_setting(CommandLine& line, const SettingOption& option, Choice& value) {
    if constexpr (requires { words_of(value); }) {
        static constexpr auto kWords = words_of(Choice{});
        auto take = [&value](const std::string& word) {
            value = static_cast<Choice>(std::find(kWords.begin(), kWords.end(), word) - kWords.begin());
        };
        line.text_option(std::string(option.flag), take, std::string(option.doc))
            .one_of({kWords.begin(), kWords.end()})
            .value(std::string(option.value).c_str());
    }
}

// The options of recorder_settings.def.
void declare_settings(CommandLine& line, RecorderSettings& recorder) {
    each_setting(recorder, [&](const SettingSpec& setting, auto& value) {
        if (setting.option.kind != SettingOption::none) declare_setting(line, setting.option, value);
    });
}

bool has_option(const RecorderSettings& recorder, std::string_view flag) {
    bool given = false;
    each_setting(recorder, [&](const SettingSpec& setting, auto value) {
        given |= setting.option.flag == flag && is_given(setting, value);
    });
    return given;
}

// Every option was given together with what it needs.
Status check_needs(const RecorderSettings& recorder, bool cuda) {
    Status status;
    each_setting(recorder, [&](const SettingSpec& setting, auto value) {
        const SettingOption& option = setting.option;
        if (option.needs.empty() || !is_given(setting, value)) return;
        if (option.needs == SettingOption::kCuda) {
            if (!cuda) status = Error{ExitCode::usage, fmt::format("{} needs CUDA; add cuda to --trace", option.flag)};
        } else if (!has_option(recorder, option.needs)) {
            status = Error{ExitCode::usage,
                           fmt::format("{0} has no effect without {1}; add {1}", option.flag, option.needs)};
        }
    });
    return status;
}

}  // namespace

bool InjectionArguments::traces(std::string_view what) const {
    return std::find(trace.begin(), trace.end(), what) != trace.end();
}

void declare_injection(CommandLine& line, InjectionArguments& arguments) {
    line.option("--trace", arguments.trace,
                "What to record, separated by commas: cuda, nvtx, cpu, memory (default: cuda,nvtx,cpu).")
        .comma_separated()
        .one_of({"cuda", "nvtx", "cpu", "memory"})
        .value("WHAT");
    declare_settings(line, arguments.recorder);
    line.option(
            "--capture-range", arguments.range,
            "Record only inside this range: nvtx:NAME[@DOMAIN], cudaProfilerApi, iteration:A-B[:NAME] or start-stop.")
        .value("RANGE");
    line.option("--steps", arguments.steps,
                "Record only steps A to B, counted from 1 (the same as --capture-range iteration:A-B).")
        .value("A:B");
}

Result<InjectionOptions> injection_options(const InjectionArguments& arguments) {
    InjectionOptions options{.cuda = arguments.traces("cuda"),
                             .nvtx = arguments.traces("nvtx"),
                             .annotation = {},
                             .recorder = arguments.recorder};
    options.recorder.memory |= arguments.traces("memory");
    if (!arguments.steps.empty() && !arguments.range.empty())
        return Error{ExitCode::usage, "--steps and --capture-range exclude each other"};
    if (!arguments.steps.empty() && !take_steps(arguments.steps, ':', options))
        return Error{ExitCode::usage, fmt::format("invalid --steps '{}'; expected A:B with 1 <= A <= B, such as 10:20",
                                                  arguments.steps)};
    if (!take_range(arguments.range, options))
        return Error{ExitCode::usage,
                     fmt::format("invalid --capture-range '{}'; expected one of: {}", arguments.range, kRanges)};
    if (Status complete = check_needs(options.recorder, options.cuda); !complete) return complete.error();
    return options;
}

}  // namespace gpuprof::cli
