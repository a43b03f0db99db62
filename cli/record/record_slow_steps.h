// `record --keep-slow N` and `--trigger 'step>1.5x'`: their command line, and what to say about the steps at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/launch/injection.h"
#include "core/model/trace.h"

namespace gpuprof::inline cli {

class CommandLine;

struct SlowStepArguments {
    std::optional<std::string> trigger;
    std::string step_range;

    bool wanted(const RecorderSettings& recorder) const { return recorder.keep_slow > 0 || trigger.has_value(); }
};

void declare_slow_steps(CommandLine& line, SlowStepArguments& arguments);

// The factor of a condition such as "step>1.5x", in millionths; absent if it is none. Exact: no digit is dropped.
std::optional<std::int64_t> trigger_factor(std::string_view condition);

// Adds them to the options of the library.
Status apply_slow_steps(const SlowStepArguments& arguments, InjectionOptions& options);

// What to say about the steps of a recording; `file` is its name. Empty if all steps were to be kept.
std::vector<std::string> about_slow_steps(const Trace& trace, const std::string& file, bool wanted);

}  // namespace gpuprof::cli
