#include "collect/device/smi/smi_csv.h"

#include <algorithm>

#include "core/schema/plausible.h"

namespace gpuprof::inline device::nvidia_smi {
namespace {

void take_metric(Metric metric, const std::string& cell, Row& to) {
    if (MetricCell read = read_metric(metric, cell); read.value)
        to.reading.set(metric, *read.value);
    else
        to.errors.push_back({metric, read.problem, cell});
}

std::optional<double> fact(const std::string& cell, Metric like) {
    std::optional<double> value = number_of(cell);
    return value && plausible(like, *value) ? value : std::nullopt;
}

void take_fact(std::string_view query, const std::string& cell, Row& to) {
    std::optional<double> number = number_of(cell);
    bool is_count = number && *number >= 0 && *number < 4096 && *number == static_cast<int>(*number);
    if (query == "index" && is_count) to.index = static_cast<std::int32_t>(*number);
    if (query == "count" && is_count) to.count = static_cast<std::int32_t>(*number);
    if (query == "uuid" && !problem_of(cell)) to.uuid = cell;
    if (query == "name" && !problem_of(cell)) to.name = cell;
    if (query == "pci.bus_id" && !problem_of(cell)) to.pci_bus_id = cell;
    if (query == "mig.mode.current") to.mig = cell == "Enabled";
    if (query == "enforced.power.limit") to.power_limit_w = fact(cell, Metric::power);
    if (query == "clocks.max.sm") to.sm_clock_max_mhz = fact(cell, Metric::sm_clock);
    if (query == "clocks.max.memory") to.mem_clock_max_mhz = fact(cell, Metric::mem_clock);
}

}  // namespace

bool Table::take_header(const std::vector<std::string>& cells) {
    std::vector<std::string> names;
    for (const std::string& cell : cells) names.emplace_back(without_unit(cell));
    std::size_t known = 0;
    for (const std::string& name : names) known += field_of(name) != nullptr;
    if (names.front() != "index" || known < 2) return false;
    columns_ = std::move(names);
    return true;
}

std::optional<Row> Table::take(std::string_view line) {
    constexpr std::size_t kMaxLineBytes = 8192;
    line = trim(line.substr(0, std::min(line.size(), kMaxLineBytes)));
    if (line.empty()) return std::nullopt;
    std::vector<std::string> cells = split_cells(line, columns_.size());
    if (take_header(cells)) return std::nullopt;
    Row row;
    if (!columns_.empty() && cells.size() == columns_.size()) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const Field* field = field_of(columns_[i]);
            if (field && field->metric)
                take_metric(*field->metric, cells[i], row);
            else if (field)
                take_fact(field->query, cells[i], row);
        }
        std::optional<double> used = row.reading.get(Metric::mem_used), total = row.reading.get(Metric::mem_total);
        if (used && total && *used > *total) {
            row.reading.present.remove(Metric::mem_used);
            row.reading.values[index_of(Metric::mem_used)] = 0;
            row.errors.push_back({Metric::mem_used, Problem::implausible, std::to_string(*used)});
        }
        if (row.index >= 0) return row;
    }
    message_ = std::string(line.substr(0, 300));
    return std::nullopt;
}

}  // namespace gpuprof::device::nvidia_smi
