#include "cli/ranks/job_conditions.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "cli/choice.h"
#include "cli/output.h"
#include "core/base/text/close_match.h"
#include "ranks/price/stragglers.h"

namespace gpuprof::inline cli {
namespace {

// What was found, in the unit of the condition, as a sentence; no value if it cannot be judged.
struct Found {
    std::optional<double> value;
    std::string line;
};

Found cost_of(const Stragglers& job) {
    if (!job.reason.empty()) return {std::nullopt, job.reason};
    if (job.step_ns <= 0) return {std::nullopt, "no steps were priced"};
    const Straggler* worst = nullptr;
    for (const Straggler& unit : job.units)
        if (unit.named && (worst == nullptr || unit.cost_ns > worst->cost_ns)) worst = &unit;
    if (worst == nullptr) return {0, "no straggler"};
    double percent = 100 * worst->cost_ns / job.step_ns;
    return {percent, fmt::format("{} ({}) costs {:.2f} % of the step", worst->unit, name_of(worst->cause), percent)};
}

Found uneven_of(const Stragglers& job) {
    if (!job.reason.empty()) return {std::nullopt, job.reason};
    if (job.step_ns <= 0) return {std::nullopt, "no steps were priced"};
    double percent = 100 * (job.step_ns - job.ideal_ns) / job.step_ns;
    return {percent, fmt::format("{:.2f} % of the step is lost to uneven ranks and transfers", percent)};
}

Found lost_of(const Trace& trace, bool percent) {
    const RankTable& ranks = trace.tables().rank;
    std::size_t lost = 0;
    for (Row row = 0; row < ranks.rows; ++row) lost += trace.text(ranks.status.value_or(row, kNoString)) != "whole";
    std::string line = fmt::format("{} of {} ranks have no whole recording", lost, ranks.rows);
    auto value = static_cast<double>(lost);
    return {percent && ranks.rows > 0 ? 100 * value / static_cast<double>(ranks.rows) : value, std::move(line)};
}

Found find(const JobCondition& condition, const Facts& facts) {
    switch (condition.metric) {
        case JobMetric::cost: return cost_of(facts.get<Stragglers>());
        case JobMetric::uneven: return uneven_of(facts.get<Stragglers>());
        case JobMetric::lost: return lost_of(facts.trace(), condition.percent);
    }
    return {};
}

}  // namespace

Result<JobCondition> job_condition_of(std::string_view text) {
    auto wrong = [&](std::string_view why) {
        return Error{ExitCode::usage, fmt::format("invalid --fail-on '{}': {}", text, why)};
    };
    JobCondition condition;
    for (char c : text)
        if (c != ' ' && c != '\t') condition.text += c;
    std::size_t at = condition.text.find('>');
    if (at == condition.text.npos) return wrong("expected METRIC>PERCENT, such as 'cost>2%', or 'lost>0'");
    std::string_view name = std::string_view(condition.text).substr(0, at);
    bool known = false;
    for (const JobMetricSpec& spec : kJobMetrics)
        if (spec.name == name) condition.metric = spec.metric, known = true;
    if (!known) return wrong(unknown_choice("metric", name, names_of(std::span(kJobMetrics))).message);
    std::string_view number = std::string_view(condition.text).substr(at + 1);
    condition.percent = number.ends_with('%');
    if (condition.percent) number.remove_suffix(1);
    if (!condition.percent && condition.metric != JobMetric::lost)
        return wrong("the limit must be a percentage that ends with %, such as 2%");
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), condition.limit);
    if (error != std::errc() || end != number.data() + number.size()) return wrong("the limit is not a number");
    if (!(condition.limit >= 0)) return wrong("the limit must not be negative");
    return condition;
}

Result<std::vector<JobCondition>> job_conditions_of(const std::vector<std::string>& texts) {
    std::vector<JobCondition> conditions;
    for (const std::string& text : texts) {
        Result<JobCondition> condition = job_condition_of(text);
        if (!condition.ok()) return condition.error();
        conditions.push_back(std::move(condition).value());
    }
    return conditions;
}

ExitCode evaluate_all(const std::vector<JobCondition>& conditions, const Facts& facts) {
    bool fired = false;
    for (const JobCondition& condition : conditions) {
        Found found = find(condition, facts);
        if (!found.value) {
            note(fmt::format("--fail-on {}: not evaluated: {}", condition.text, found.line));
        } else if (*found.value > condition.limit) {
            note(fmt::format("--fail-on {}: {}", condition.text, found.line));
            fired = true;
        }
    }
    return fired ? ExitCode::threshold : ExitCode::ok;
}

}  // namespace gpuprof::cli
