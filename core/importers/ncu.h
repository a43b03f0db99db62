// Importer of what `ncu --csv` prints, with `--page raw` (one line a launch, one column a metric) and `--page details` (one line a
// metric), mixed with what the program itself and ncu wrote to the same output. A metric without a value is not there; rules
// (the advice of ncu) are not taken over. There is no timeline in these files: a launch has a duration and no start.
// Format: https://docs.nvidia.com/nsight-compute/NsightComputeCli, "Page raw", "Print CSV"; no specification.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_ncu(std::string_view head);
Status import_ncu(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
