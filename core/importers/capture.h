// Reads our own capture files (docs/format.md). Whole chunks are read, whatever lies between is counted; see
// core/format/chunk_reader.h for what damage costs. Decodes on several threads; the result does not depend on them.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_capture(std::string_view head);
Status import_capture(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
