// Importer of the trees that Proton (the profiler of Triton) writes for Hatchet, and of such trees by others: JSON, a list of roots
// with `frame`, `metrics` and `children`, and what is known of the devices.
// Format: triton, third_party/proton; Hatchet's literal format, https://hatchet.readthedocs.io.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_proton(std::string_view head);
Status import_proton(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
