// Importer of recorded series: samples of devices as CSV, as `gpu-profile --csv` writes and `--backend replay:FILE` plays them.
// Format: core/format/series_csv.h.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_series(std::string_view head);
Status import_series(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
