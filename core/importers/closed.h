// Reports that only their maker's tool can read: .nsys-rep and .ncu-rep. That tool is run where it is on PATH, and what it exports is
// opened; where it is not, the error says how to export. Reports are known by the ending of their names and, for those of
// Nsight Compute, by how they begin.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/importers/source.h"

namespace gpuprof {

// Whether `file` is such a report.
bool is_closed_report(std::string_view file, std::string_view head);

// What its maker's tool made of it. Nothing of it is left behind, however the program ends: a file without a name, or a folder that a
// process of its own takes away when this one is gone.
Result<std::unique_ptr<Source>> export_closed(const std::string& file, std::string_view head, const ReadLimits& limits);

}  // namespace gpuprof
