#include "cli/record/record_injection.h"
#include "cli/command_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

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
    if (text == "cudaProfilerApi") return options.recorder.range = CaptureRange::profiler_api, true;
    if (text == "start-stop") return options.recorder.range = CaptureRange::calls, true;
    return text.substr(0, 10) == "iteration:" && take_iterations(text.substr(10), options);
}

template <class Value>
using Choice = std::pair<const char*, Value>;

// An option whose words stand for values; the first one is the default.
template <class Value>
void add_choice(CommandLine& line, const char* name, const char* type, Value& value,
                const std::vector<Choice<Value>>& choices, const char* doc) {
    std::vector<std::string> words;
    for (const Choice<Value>& choice : choices) words.emplace_back(choice.first);
    auto take = [&value, choices](const std::string& word) {
        for (const Choice<Value>& choice : choices)
            if (word == choice.first) value = choice.second;
    };
    line.text_option(name, take, doc).one_of(words).value(type);
}

void add_seconds(CommandLine& line, const char* name, std::int64_t& ns, const char* doc) {
    line.number_option(
            name, [&ns](double s) { ns = std::llround(s * 1e9); }, doc)
        .seconds(0, 1e6)
        .value("S");
}

void declare_setting(CommandLine& line, const SettingOption& option, bool& value) {
    line.flag(std::string(option.flag), value, std::string(option.doc));
}

void declare_setting(CommandLine& line, const SettingOption& option, std::int64_t& value) {
    line.option(std::string(option.flag), value, std::string(option.doc))
        .integer_range(option.low, option.high)
        .value(std::string(option.value).c_str());
}

template <class Other>
void declare_setting(CommandLine&, const SettingOption&, Other&) {}

// The options of recorder_settings.def.
void declare_settings(CommandLine& line, RecorderSettings& recorder) {
    each_setting(recorder, [&](const SettingSpec& setting, auto& value) {
        if (setting.option.kind != SettingOption::none) declare_setting(line, setting.option, value);
    });
}

// The option of a setting that was given although CUDA is not recorded; "" if there is none.
std::string_view needs_cuda(const RecorderSettings& recorder) {
    std::string_view flag;
    each_setting(recorder, [&](const SettingSpec& setting, auto value) {
        bool given = static_cast<std::int64_t>(value) != setting.initial;
        if (setting.option.for_cuda && given) flag = setting.option.flag;
    });
    return flag;
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
    RecorderSettings& recorder = arguments.recorder;
    add_choice<bool>(line, "--api", "WHICH", recorder.all_api, {{"selected", false}, {"all", true}},
                     "CUDA calls to record: selected (launches, copies, synchronisation, memory, modules) or all "
                     "(default: selected).");
    add_choice<bool>(line, "--graph", "LEVEL", recorder.graph_level, {{"node", false}, {"graph", true}},
                     "Detail of CUDA graphs: node (every kernel) or graph (every launch) (default: node).");
    line.flag("--all-children", recorder.all_children, "Record shells, compilers and similar child processes as well.");
    line.flag("--no-command-line", recorder.no_command_line,
              "Omit command lines; by default they are kept, with recognised secrets removed.");
    line.flag("--memory", recorder.memory, "Record allocations of device memory.");
    declare_settings(line, recorder);
    add_choice<CuptiPolicy>(line, "--cupti", "POLICY", recorder.cupti,
                            {{"share", CuptiPolicy::share}, {"own", CuptiPolicy::own}, {"yield", CuptiPolicy::yield}},
                            "If the program contains another profiler: share (both record), own (refuse the other), "
                            "yield (stop recording) (default: share).");
    add_seconds(line, "--delay", recorder.delay_ns,
                "Delay before recording starts in each process, in seconds (default: 0).");
    add_seconds(line, "--duration", recorder.duration_ns,
                "Duration of the recording in each process, in seconds; 0 records to the end (default: 0).");
    line.option(
            "--capture-range", arguments.range,
            "Record only inside this range: nvtx:NAME[@DOMAIN], cudaProfilerApi, iteration:A-B[:NAME] or start-stop.")
        .value("RANGE");
    line.option("--steps", arguments.steps,
                "Record only steps A to B, counted from 1 (the same as --capture-range iteration:A-B).")
        .value("A:B");
    add_seconds(line, "--keep-last", recorder.keep_last_ns,
                "Keep only the last part of the recording, at least S seconds; 0 keeps all (default: 0).");
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
    if (options.recorder.memory && !options.cuda)
        return Error{ExitCode::usage, "--memory needs CUDA; add cuda to --trace"};
    if (std::string_view flag = needs_cuda(options.recorder); !flag.empty() && !options.cuda)
        return Error{ExitCode::usage, fmt::format("{} needs CUDA; add cuda to --trace", flag)};
    return options;
}

}  // namespace gpuprof::cli
