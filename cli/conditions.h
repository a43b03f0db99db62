// The --fail-on of compare and history: all of them read before anything else, and judged at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "compare/condition.h"

namespace gpuprof {

void declare_conditions(CommandLine& line, std::vector<std::string>& texts);

Result<std::vector<compare::Condition>> conditions_of(const std::vector<std::string>& texts);

// What fires, and what cannot be judged, is said on standard error. ExitCode::threshold when one fires.
ExitCode judge_all(const std::vector<compare::Condition>& conditions, const compare::Changes& changes,
                   bool same_hardware);

}  // namespace gpuprof
