#include "compare/condition.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/text/close_match.h"

namespace gpuprof::compare {
namespace {

std::string without_blanks(std::string_view text) {
    std::string bare;
    for (char c : text)
        if (c != ' ' && c != '\t') bare += c;
    return bare;
}

std::vector<std::string_view> names_of_metrics() {
    std::vector<std::string_view> names;
    for (const MetricSpec& spec : kMetrics) names.push_back(spec.name);
    return names;
}

}  // namespace

Result<Condition> condition_of(std::string_view text) {
    auto wrong = [&](std::string_view why) {
        return Error{ExitCode::usage, fmt::format("invalid --fail-on '{}': {}", text, why)};
    };
    Condition condition;
    condition.text = without_blanks(text);
    condition.cannot_tell = condition.text == "cannot-tell";
    if (condition.cannot_tell) return condition;
    std::size_t at = condition.text.find_first_of("<>");
    if (at == condition.text.npos) return wrong("expected METRIC>PERCENT, such as 'step_p50>2%', or cannot-tell");
    std::string_view name = std::string_view(condition.text).substr(0, at);
    bool known = false;
    for (std::size_t i = 0; i < kMetricCount; ++i)
        if (kMetrics[i].name == name) {
            condition.metric = static_cast<Metric>(i);
            known = true;
        }
    if (!known) return wrong(unknown_choice("metric", name, names_of_metrics()).message);
    condition.above = condition.text[at] == '>';
    std::string_view number = std::string_view(condition.text).substr(at + 1);
    if (!number.ends_with('%')) return wrong("the limit must be a percentage that ends with %, such as 2%");
    number.remove_suffix(1);
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), condition.pct);
    if (error != std::errc() || end != number.data() + number.size()) return wrong("the limit is not a number");
    if (condition.above ? condition.pct < 0 : condition.pct > 0)
        return wrong(condition.above ? "the limit of an increase (>) must not be negative"
                                     : "the limit of a decrease (<) must not be positive, such as -2%");
    return condition;
}

ConditionResult evaluate(const Condition& condition, const Changes& changes, std::string_view not_comparable) {
    const Metric metric = condition.cannot_tell ? deciding_metric(changes) : condition.metric;
    const Change& change = changes[static_cast<std::size_t>(metric)];
    auto line = [&](std::string_view what) { return fmt::format("--fail-on {}: {}", condition.text, what); };
    if (condition.cannot_tell) {
        if (not_comparable.empty() && change.word != Word::cannot_tell) return {ConditionOutcome::holds, line("")};
        return {ConditionOutcome::fires, line(not_comparable.empty() ? change.because : std::string(not_comparable))};
    }
    if (!not_comparable.empty())
        return {ConditionOutcome::not_evaluated, line(fmt::format("not evaluated: {}", not_comparable))};
    if (!change.pct || (!change.strict && !decided(change)))
        return {ConditionOutcome::not_evaluated, line("not evaluated: " + change.because)};
    bool beyond_limit = condition.above ? *change.pct > condition.pct : *change.pct < condition.pct;
    bool beyond_noise = change.few ? change.word == (condition.above ? Word::higher : Word::lower)
                                   : (condition.above ? change.strict->low > 0 : change.strict->high < 0);
    std::string found = fmt::format("{:+.2f} %, {}", *change.pct, change.because);
    if (!beyond_limit) return {ConditionOutcome::holds, line(found)};
    if (!beyond_noise) return {ConditionOutcome::holds, line(found + " (within the noise)")};
    return {ConditionOutcome::fires, line(found)};
}

}  // namespace gpuprof::compare
