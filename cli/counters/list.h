// What `counters` says without running anything: sets, metrics, and what a set costs on a chip.
#pragma once

#include <string>

#include "core/base/exit_code.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

Result<ExitCode> list_counter_sets();
// Passes of every set on `chip`; "": the chip of this machine.
Result<ExitCode> plan_sets_for_chip(const std::string& chip);
// Passes of one set or list of metrics, and of each of its metrics alone.
Result<ExitCode> plan_metrics_for_chip(const std::string& chip, const std::string& set);
// All metrics of a chip, without their submetrics.
Result<ExitCode> list_counter_metrics(const std::string& chip);

}  // namespace gpuprof::cli
