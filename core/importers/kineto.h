// Importer of the traces that the PyTorch profiler (Kineto) writes: Chrome trace JSON, as an object with "traceEvents" or a bare
// array, of every schema since PyTorch 1.8, from NVIDIA, AMD and CPU-only machines. Times become exact integer nanoseconds, with
// baseTimeNanoseconds added. Broken files are read as far as they are whole; everything else is a loss.
// Format: https://github.com/pytorch/kineto, libkineto/src/output_json.cpp.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_kineto(std::string_view head);
Status import_kineto(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
