// Importer of profiles of pprof (profile.proto): stacks with values, as the tree of their calls. JAX writes its device memory so
// (jax.profiler.save_device_memory_profile). A place is a function with its file and line; the values of a stack belong to its
// innermost place. Labels other than the device are not kept.
// Format: proto/profile.proto of github.com/google/pprof.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_pprof(std::string_view head);
Status import_pprof(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
