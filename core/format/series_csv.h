// A recorded series as CSV: one line of names, then one line per reading. Names are the fields of
// core/schema/metrics.def plus `time_s` (seconds on any clock) and `device`, as `gpu-profile --csv` writes them. The
// names in NVML's own units are accepted too (power_mw, energy_mj, mem_used in bytes, ...). Unknown columns are
// ignored; empty cells and nan are absent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/format/reading.h"

namespace gpuprof::inline format {

struct RecordedSeries {
    std::vector<Reading> readings;  // sorted by time
    std::uint64_t bad_lines = 0;    // skipped: no time, or too many cells
};

// Whether a series begins with this line.
bool is_series_heading(std::string_view line);

// `name` is the name of the file in messages.
Result<RecordedSeries> parse_series(std::string_view text, std::string_view name);

// The line of names, and one reading as a line; both with the line end.
std::string series_heading();
std::string series_line(const Reading& reading, TimeNs started);

}  // namespace gpuprof::format
