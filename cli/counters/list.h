// What `counters` says without running anything: sets, metrics, and what a set costs on a chip.
#pragma once

#include <string>

#include "core/base/exit_code.h"
#include "core/base/result.h"

namespace gpuprof {

Result<ExitCode> list_counter_sets();
// Passes of every set, and of `extra` (a set or metrics; "" for none), on `chip`; "": the chip of this machine.
Result<ExitCode> plan_for_chip(const std::string& chip, const std::string& extra);
// All metrics of a chip, without their submetrics.
Result<ExitCode> list_counter_metrics(const std::string& chip);

}  // namespace gpuprof
