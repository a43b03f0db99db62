// --fail-on METRIC>PCT: fires if NEW's metric grew by more than PCT percent, beyond the noise. METRIC<PCT, with a
// negative PCT, fires if it fell by more. "cannot-tell" fires if the verdict is that, or if nothing can be compared.
#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "core/base/result.h"

namespace gpuprof::compare {

struct Condition {
    std::string text;  // as given by the user
    Metric metric = Metric::wall_time;
    bool above = true, cannot_tell = false;
    double pct = 0;
};

// "step_p50>2%", "busy < -5 %", "cannot-tell".
Result<Condition> condition_of(std::string_view text);

enum class ConditionOutcome { holds, fires, not_evaluated };

struct ConditionResult {
    ConditionOutcome outcome = ConditionOutcome::not_evaluated;
    std::string line;  // what was found, or why it cannot be evaluated
};

// If the recordings are not comparable, for the given reason, nothing is evaluated.
ConditionResult evaluate(const Condition& condition, const Changes& changes, std::string_view not_comparable);

}  // namespace gpuprof::compare
