// The launcher's plan of a measurement of counters, in the folder of spool files.
#pragma once

#include <optional>

#include "core/format/counter_plan.h"

namespace gpuprof::inject {

// Maps FOLDER/counters.plan for the life of the process: the plan points into it. Absent if there is none, or if it is
// damaged or empty.
std::optional<CounterPlan> map_counter_plan(const char* folder) noexcept;

}  // namespace gpuprof::inject
