// The moments that a user names, on the clock of the trace. They are given from the start of the recording, in seconds
// or with a unit, as for `report --from`.
#pragma once

#include <optional>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

// --at, or none.
Result<std::optional<TimeNs>> requested_moment(const Facts& facts);
// --between A:B, or none.
Result<std::optional<Interval>> requested_moments(const Facts& facts);

}  // namespace gpuprof::facts
