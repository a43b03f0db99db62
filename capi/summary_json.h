// Parses a summary from its JSON form, the fields of core/schema/summary_fields.def. Unknown fields are ignored,
// missing and null ones absent.
#pragma once

#include <string_view>

#include "collect/device/summary.h"
#include "core/base/result.h"

namespace gpuprof::capi {

Result<GpuSummary> summary_from_json(std::string_view json);

}  // namespace gpuprof::capi
