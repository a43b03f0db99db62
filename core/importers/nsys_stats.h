// Importer of CSV that `nsys stats` prints: the reports cuda_gpu_trace (what ran on devices) and cuda_api_trace (calls), one after
// the other in any order, with what nsys says between them. A column is found by its name without the unit, the unit by what
// stands in brackets behind it: "Start (ns)", "Start(nsec)", "Bytes (MB)". Other reports of the output are counted, not read.
// Format: https://docs.nvidia.com/nsight-systems/UserGuide, "CUDA GPU Trace", "CUDA API Trace".
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_nsys_stats(std::string_view head);
Status import_nsys_stats(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
