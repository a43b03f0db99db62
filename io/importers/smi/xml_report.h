// The complete XML output of nvidia-smi (`-q -x`), or several in one file (`-q -x -l 1`): every number of every GPU as
// a sample.
#pragma once

#include <string_view>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers::smi_log {

inline constexpr std::string_view kReportMark = "<nvidia_smi_log>";

// What the reader must know about the times; "" if nothing.
std::string_view read_reports(std::string_view xml, Batch& batch);

}  // namespace gpuprof::importers::smi_log
