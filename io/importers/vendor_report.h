// Reports that only their vendor's tool can read: .nsys-rep and .ncu-rep. The tool is run if it is on PATH, and its
// export is opened; otherwise the error says how to export. Reports are recognised by file name suffix and, for Nsight
// Compute, by their first bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

// Whether `file` is such a report.
bool is_vendor_report(std::string_view file, std::string_view head);

// The export of the vendor's tool. Nothing of it remains, however the program ends: it is a file without a name, or a
// folder that a separate process removes when this one is gone.
Result<std::unique_ptr<Source>> export_vendor_report(const std::string& file, std::string_view head,
                                                     const ReadLimits& limits);

}  // namespace gpuprof::importers
