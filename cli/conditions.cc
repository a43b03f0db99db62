#include "cli/conditions.h"
#include "cli/command_options.h"

#include "cli/choice.h"
#include "cli/output.h"

namespace gpuprof::inline cli {

void declare_conditions(CommandLine& line, std::vector<std::string>& texts) {
    line.option(
            "--fail-on", texts,
            "Exit with 1 if a metric changed by more than this percentage beyond the noise, such as 'step_p50>2%', or "
            "on the verdict cannot-tell.")
        .one_value_per_use()
        .suggest(names_of(compare::kMetrics))
        .value("METRIC>PCT");
}

Result<std::vector<compare::Condition>> conditions_of(const std::vector<std::string>& texts) {
    std::vector<compare::Condition> conditions;
    for (const std::string& text : texts) {
        Result<compare::Condition> condition = compare::condition_of(text);
        if (!condition.ok()) return condition.error();
        conditions.push_back(std::move(condition).value());
    }
    return conditions;
}

ExitCode evaluate_all(const std::vector<compare::Condition>& conditions, const compare::Changes& changes,
                      std::string_view not_comparable) {
    bool fired = false;
    for (const compare::Condition& condition : conditions) {
        compare::ConditionResult judged = compare::evaluate(condition, changes, not_comparable);
        fired |= judged.outcome == compare::ConditionOutcome::fires;
        if (judged.outcome != compare::ConditionOutcome::holds) note(judged.line);
    }
    return fired ? ExitCode::threshold : ExitCode::ok;
}

}  // namespace gpuprof::cli
