// Cells in the output of nvidia-smi: the metric of each field, and the meaning of a number or word. Pure functions,
// shared by the sampler that runs nvidia-smi and the importer of its logs. Hostile text gives problems, never wrong
// numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/metrics.h"

namespace gpuprof::inline smi {

// A requested field: it has a metric, or is one of the facts below.
struct Field {
    std::string_view query;  // as --help-query-gpu spells it
    std::string_view older;  // its name before, or ""
    std::optional<Metric> metric;
};
std::span<const Field> fields();

enum class Problem { unsupported, no_permission, unknown_error, reset_required, lost, unreadable, implausible };

// A number as nvidia-smi may write it: 134.05, 134,05, 1,234.5, 0x20, with or without a known unit. Absent if it is not
// a number or is ambiguous.
std::optional<double> number_of(std::string_view text);

// Cells of a line; the separator is a comma, or a comma and a space when that gives `columns` cells.
std::vector<std::string> split_cells(std::string_view line, std::size_t columns);

// Without the unit that the header has in brackets.
std::string_view without_unit(std::string_view header);
// The field of a column, by its name or its older one; null when it is none of fields().
const Field* field_of(std::string_view column);
// What a word in place of a number means; nothing when it is no such word.
std::optional<Problem> problem_of(std::string_view cell);
std::string_view trim(std::string_view text);

// A metric's value in its unit, or why there is none.
struct MetricCell {
    std::optional<double> value;
    Problem problem = Problem::unreadable;
};
MetricCell read_metric(Metric metric, const std::string& cell);

}  // namespace gpuprof::smi
