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

// What its maker's tool made of it, in a temporary folder that goes with the last copy of `folder`.
struct ExportedReport {
    std::shared_ptr<void> folder;
    std::unique_ptr<Source> source;
};
Result<ExportedReport> export_closed(const std::string& file, std::string_view head);

}  // namespace gpuprof
