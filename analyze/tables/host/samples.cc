// `samples`: statistics of sampled metrics (utilisation, memory, power, ...), one row per metric, device and process.
// Percentiles are actual samples (nearest rank). Metrics come in the order of core/schema/metrics.def, all others after
// them.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kSamplesColumns[] = {
    {"metric", CellType::text, Unit::none, "Sampled metric."},
    {"unit", CellType::text, Unit::none, "Unit of the values; absent if they have none."},
    {"count", CellType::integer, Unit::count, "Number of samples."},
    {"mean", CellType::real, Unit::none, "Mean."},
    {"std", CellType::real, Unit::none, "Sample standard deviation (n - 1); absent below two samples."},
    {"min", CellType::real, Unit::none, "Minimum."},
    {"p5", CellType::real, Unit::none, "5th percentile."},
    {"p50", CellType::real, Unit::none, "Median."},
    {"p95", CellType::real, Unit::none, "95th percentile."},
    {"p99", CellType::real, Unit::none, "99th percentile."},
    {"max", CellType::real, Unit::none, "Maximum."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"pid", CellType::integer, Unit::none, "Process id; absent for the whole device."},
};

std::size_t place_of(std::string_view metric) {
    for (const MetricSpec& spec : kMetrics)
        if (spec.name == metric) return index_of(spec.metric);
    for (std::size_t i = 0; i < kPmCounterCount; ++i)
        if (kPmCounters[i].name == metric) return kMetricCount + i;
    return kMetricCount + kPmCounterCount;
}

// Place in metrics.def, name, device, process (or -1).
using SeriesKey = std::tuple<std::size_t, std::string_view, std::int32_t, std::int64_t>;

struct Series {
    std::string_view unit;
    std::vector<double> values;
};

std::map<SeriesKey, Series> gather_series(const Trace& trace, std::int64_t only_device) {
    const SampleTable& samples = trace.tables().sample;
    std::map<SeriesKey, Series> found;
    for (Row row = 0; row < samples.rows; ++row) {
        std::int32_t device = samples.device.value_or(row, -1);
        if (!samples.metric.has(row) || !samples.value.has(row) || !std::isfinite(samples.value[row])) continue;
        if (only_device >= 0 && device != only_device) continue;
        std::string_view metric = trace.text(samples.metric[row]);
        Series& to = found[{place_of(metric), metric, device, samples.pid.value_or(row, -1)}];
        to.unit = trace.text(samples.unit.value_or(row, kNoString));
        to.values.push_back(samples.value[row]);
    }
    return found;
}

double rank_of(const std::vector<double>& sorted, std::size_t p) {
    return sorted[std::max<std::size_t>((sorted.size() * p + 99) / 100, 1) - 1];
}

void add_row(ResultTable& table, const SeriesKey& key, Series& series) {
    std::vector<double>& values = series.values;
    std::sort(values.begin(), values.end());
    auto count = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (double value : values) mean += value / count;
    for (double value : values) squares += (value - mean) * (value - mean);
    auto [place, metric, device, pid] = key;
    table.add_row({text_cell(metric), text_cell(series.unit), integer(values.size()), mean,
                   values.size() > 1 ? Cell(std::sqrt(squares / (count - 1))) : kAbsent, values.front(),
                   rank_of(values, 5), rank_of(values, 50), rank_of(values, 95), rank_of(values, 99), values.back(),
                   device >= 0 ? integer(device) : kAbsent, pid >= 0 ? integer(pid) : kAbsent});
}

Result<ResultTable> samples_table(const Facts& facts) {
    ResultTable table("samples", kSamplesColumns);
    for (auto& [key, series] : gather_series(facts.trace(), facts.options().device)) add_row(table, key, series);
    if (table.rows() == 0)
        table.notes.push_back(
            "No samples were recorded; gpu-profile record -- CMD and gpu-profile --capture FILE -- CMD record them.");
    return table;
}

}  // namespace

const Analysis kSamples{"samples", "", "Per sampled metric: mean, spread and percentiles.", kSamplesColumns,
                        samples_table};

}  // namespace gpuprof::tables
