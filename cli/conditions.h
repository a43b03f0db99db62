// The --fail-on conditions of compare and history. All are parsed before anything is read, and judged at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/command_options.h"
#include "compare/condition.h"

namespace gpuprof::inline cli {

void declare_conditions(CommandLine& line, std::vector<std::string>& texts);

Result<std::vector<compare::Condition>> conditions_of(const std::vector<std::string>& texts);

// Reports on standard error what fired and what could not be judged. Returns ExitCode::threshold if one fired.
ExitCode evaluate_all(const std::vector<compare::Condition>& conditions, const compare::Changes& changes,
                      std::string_view not_comparable);

}  // namespace gpuprof::cli
