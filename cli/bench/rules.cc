#include "cli/bench/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "measure/bench_options.h"

namespace gpuprof::inline cli {
namespace {

using measure::StoppingOptions;

// The last occurrence counts.
std::optional<std::string> value_of(std::string_view flag, std::span<const std::string> given) {
    std::optional<std::string> value;
    for (const std::string& word : given)
        if (word.starts_with(flag) && word.substr(flag.size()).starts_with('=')) value = word.substr(flag.size() + 1);
    return value;
}

Status take(const std::string& value, measure::StopRule& to) {
    Result<measure::StopRule> rule = measure::find_stop_rule(value);
    if (!rule.ok()) return rule.error();
    to = *rule;
    return {};
}
Status take(const std::string& value, double& to) {
    to = std::strtod(value.c_str(), nullptr);
    return {};
}
Status take(const std::string& value, DurNs& to) {
    to = std::llround(std::strtod(value.c_str(), nullptr) * 1e9);
    return {};
}
Status take(const std::string& value, std::size_t& to) {
    to = static_cast<std::size_t>(std::strtoull(value.c_str(), nullptr, 10));
    return {};
}

}  // namespace

std::span<const PassedOption> stopping_options() {
    static const std::vector<PassedOption> all = [] {
        std::vector<PassedOption> found;
        for (const OptionSpec& spec : measure::kStoppingOptions) found.push_back(PassedOption::of(spec));
        return found;
    }();
    return all;
}

Result<StoppingOptions> program_rules(std::span<const std::string> given) {
    StoppingOptions rules = kProgramRules;
    Status taken;
#define GPUPROF_TAKE(field, member, kind, parameter, flag, ...) \
    if (std::optional<std::string> value = value_of(flag, given); value && taken) taken = take(*value, rules.member);
    GPUPROF_STOPPING_OPTIONS(GPUPROF_TAKE)
#undef GPUPROF_TAKE
    if (!taken) return taken.error();
    bool least = value_of("--min-samples", given).has_value(), most = value_of("--max-samples", given).has_value();
    if (least && !most) rules.max_samples = std::max(rules.max_samples, rules.min_samples);
    if (most && !least) rules.min_samples = std::min(rules.max_samples, rules.min_samples);
    if (Status possible = measure::check(rules); !possible)
        return Error{possible.error().code, fmt::format("--min-samples ({}) must not exceed --max-samples ({})",
                                                        rules.min_samples, rules.max_samples)};
    return rules;
}

}  // namespace gpuprof::cli
