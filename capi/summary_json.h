// A summary read back from its JSON form: the fields of core/schema/summary_fields.def; unknown ones are skipped, missing
// and null ones absent.
#pragma once

#include <string_view>

#include "collect/device/summary.h"
#include "core/base/result.h"

namespace gpuprof {

Result<GpuSummary> summary_from_json(std::string_view json);

}  // namespace gpuprof
