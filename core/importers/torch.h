// Importers of what PyTorch writes about memory: the snapshots of its CUDA allocator (`torch.cuda.memory._dump_snapshot`, a pickle of
// plain values) and the raw memory timeline of its profiler (`export_memory_timeline`, JSON).
// Formats: pytorch, torch/cuda/memory.py and c10/cuda/CUDACachingAllocator.h; torch/profiler/_memory_profiler.py.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_torch_snapshot(std::string_view head);
Status import_torch_snapshot(Source& source, TraceBuilder& builder);

int sniff_torch_timeline(std::string_view head);
Status import_torch_timeline(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
