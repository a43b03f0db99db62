// Importer of logs of nvidia-smi: `--query-gpu=... --format=csv` with any fields, with or without units, `dmon` in both of its
// formats, and `-q -x`. Their times are local and name no zone: they are taken as UTC, and the trace says so; a log without times gives
// samples without times.
// Format: nvidia-smi --help-query-gpu, nvidia-smi dmon --help.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_smi(std::string_view head);
Status import_smi(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
