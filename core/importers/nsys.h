// Importer of the SQLite databases that `nsys export --type sqlite` writes, schema 2.x to 3.x. A table that is not there was not
// collected; tables carry no index and are read in one pass each, in the order of the file. Times are ns since the start of the
// session and become ns of UTC by TARGET_INFO_SESSION_START_TIME. Environment variables and program output, which these
// files hold too, are not taken over.
// Format: https://docs.nvidia.com/nsight-systems/UserGuide, "SQLite Schema Reference".
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_nsys(std::string_view head);
Status import_nsys(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
