#include "cli/record/record_slow_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_options.h"
#include "core/base/text/ascii.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/kept_steps.h"
#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::int64_t kKeptByTrigger = 10;
constexpr std::int64_t kMillion = 1'000'000, kLargestFactor = 1000;
constexpr std::size_t kDecimals = 6, kCommands = 3;

bool all_digits(std::string_view text) {
    for (char c : text)
        if (!is_digit(c)) return false;
    return !text.empty();
}

// "gpu-profile report FILE --from 1.204331s --to 1.297440s", rounded outwards to microseconds.
std::string command_for(const KeptStepFact& step, const Trace& trace, const std::string& file) {
    constexpr std::int64_t kMicrosecond = 1000;
    std::int64_t from = std::max<std::int64_t>(step.span.start - trace.zero(), 0) / kMicrosecond;
    std::int64_t to = (step.span.end - trace.zero() + kMicrosecond - 1) / kMicrosecond;
    return fmt::format("gpu-profile report {} --from {}.{:06} --to {}.{:06}", shell_quoted_file(file), from / kMillion,
                       from % kMillion, to / kMillion, to % kMillion);
}

}  // namespace

void declare_slow_steps(CommandLine& line, SlowStepArguments& arguments) {
    line.text_option(
            "--trigger", [&arguments](const std::string& word) { arguments.trigger = word; },
            "Keep only steps that take longer than a multiple of the median of the steps before them, such as "
            "'step>1.5x': the 10 slowest of these, or as many as --keep-slow says.")
        .value("CONDITION");
    line.option("--step-range", arguments.step_range,
                "NVTX range or mark that is a step, for --keep-slow and --trigger (default: step, iteration, "
                "ProfilerStep, and calls of gpu_profile.step()).")
        .value("NAME[@DOMAIN]");
}

std::optional<std::int64_t> trigger_factor(std::string_view condition) {
    constexpr std::string_view kBegin = "step>";
    if (!condition.starts_with(kBegin) || !condition.ends_with('x')) return std::nullopt;
    std::string_view number = condition.substr(kBegin.size(), condition.size() - kBegin.size() - 1);
    std::size_t point = number.find('.');
    std::string_view whole = number.substr(0, point);
    std::string_view decimals = point == std::string_view::npos ? std::string_view("0") : number.substr(point + 1);
    if (!all_digits(whole) || !all_digits(decimals) || whole.size() > 4 || decimals.size() > kDecimals)
        return std::nullopt;
    std::int64_t factor = 0;
    for (char c : whole) factor = factor * 10 + (c - '0');
    for (std::size_t i = 0; i < kDecimals; ++i) factor = factor * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
    return factor > kMillion && factor <= kLargestFactor * kMillion ? std::optional(factor) : std::nullopt;
}

Status apply_slow_steps(const SlowStepArguments& arguments, InjectionOptions& options) {
    RecorderSettings& recorder = options.recorder;
    if (!arguments.wanted(recorder) && !arguments.step_range.empty())
        return Error{ExitCode::usage, "--step-range names the steps of --keep-slow and --trigger; add one of them"};
    if (!arguments.wanted(recorder)) return {};
    const char* option = recorder.keep_slow > 0 ? "--keep-slow" : "--trigger";
    if (recorder.range != CaptureRange::always)
        return Error{
            ExitCode::usage,
            fmt::format("{} chooses what is kept, as --capture-range and --steps do; give only one of them", option)};
    if (recorder.keep_last_ns > 0)
        return Error{ExitCode::usage, fmt::format("{} and --keep-last exclude each other", option)};
    if (recorder.stall_period > 0)
        return Error{ExitCode::usage,
                     fmt::format("{} keeps no samples of warps; record with --stalls without it", option)};
    if (!options.nvtx)
        return Error{ExitCode::usage, fmt::format("{} finds steps by their NVTX ranges; add nvtx to --trace", option)};
    if (recorder.keep_slow == 0) recorder.keep_slow = kKeptByTrigger;
    if (arguments.trigger) {
        std::optional<std::int64_t> factor = trigger_factor(*arguments.trigger);
        if (!factor)
            return Error{ExitCode::usage,
                         fmt::format("invalid --trigger '{}'; expected step>Fx with 1 < F <= 1000 and at most six "
                                     "decimals, such as 'step>1.5x'",
                                     *arguments.trigger)};
        recorder.trigger = *factor;
    }
    if (!arguments.step_range.empty() && (arguments.step_range.front() == '@' || arguments.step_range.back() == '@'))
        return Error{ExitCode::usage,
                     fmt::format("invalid --step-range '{}'; expected NAME or NAME@DOMAIN", arguments.step_range)};
    options.annotation = arguments.step_range;
    return {};
}

std::vector<std::string> about_slow_steps(const Trace& trace, const std::string& file, bool wanted) {
    std::vector<std::string> lines;
    for (std::string_view sentence : meta_values(trace, meta_key::kSlowSteps)) lines.emplace_back(sentence);
    std::vector<std::string_view> without = meta_values(trace, meta_key::kNoSteps);
    if (lines.empty() && without.empty()) {
        if (wanted) lines.emplace_back("no process reported its steps, so what was kept is unknown");
        return lines;
    }
    if (lines.empty())
        lines.push_back(
            fmt::format("{}. A step is an NVTX range or mark called step, iteration or ProfilerStep, the one "
                        "that --step-range names, or the time between calls of gpu_profile.step()",
                        without.front()));
    else if (!without.empty())
        lines.push_back(fmt::format("{} other process{} had no steps, so nothing of {} was kept", without.size(),
                                    without.size() == 1 ? "" : "es", without.size() == 1 ? "it" : "them"));
    std::vector<KeptStepFact> kept = kept_steps(trace);
    for (std::size_t i = 0; i < std::min(kept.size(), kCommands); ++i)
        lines.push_back(fmt::format("{}: {}", kept_step_text(kept[i]), command_for(kept[i], trace, file)));
    return lines;
}

}  // namespace gpuprof::cli
