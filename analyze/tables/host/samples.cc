// `samples`: statistics of sampled metrics (utilisation, memory, power, ...), one row per metric, device and process.
// Percentiles are actual samples (nearest rank). Metrics come in the order of core/schema/metrics.def, all others after
// them.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline tables {
namespace {

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

struct SamplesRow {
    std::string_view metric, unit;
    std::int32_t device;
    std::int64_t process;
    const std::vector<double>& sorted;
    std::optional<double> mean = {}, std = {};  // absent for what has none
    // Of values that are amounts at a time; absent for counters and masks.
    Cell rank(std::size_t p) const { return mean ? Cell(rank_of(sorted, p)) : kAbsent; }
};

// A counter that only rises has no mean, and a mask of bits no order.
bool is_amount(std::size_t place) { return place != index_of(Metric::energy) && place != index_of(Metric::throttle); }

constexpr auto kSamplesColumns = columns_of<SamplesRow>({
    {"metric", CellType::text, Unit::none, "Sampled metric.", [](auto& r) { return text_cell(r.metric); }},
    {"unit", CellType::text, Unit::none, "Unit of the values; absent if they have none.",
     [](auto& r) { return text_cell(r.unit); }},
    {"count", CellType::integer, Unit::count, "Number of samples.", [](auto& r) { return r.sorted.size(); }},
    {"mean", CellType::real, Unit::none,
     "Mean; absent for counters and bit masks, as are the deviation and percentiles.", [](auto& r) { return r.mean; }},
    {"std", CellType::real, Unit::none, "Sample standard deviation (n - 1); absent below two samples.",
     [](auto& r) { return r.std; }},
    {"min", CellType::real, Unit::none, "Minimum.", [](auto& r) { return r.sorted.front(); }},
    {"p5", CellType::real, Unit::none, "5th percentile.", [](auto& r) { return r.rank(5); }},
    {"p50", CellType::real, Unit::none, "Median.", [](auto& r) { return r.rank(50); }},
    {"p95", CellType::real, Unit::none, "95th percentile.", [](auto& r) { return r.rank(95); }},
    {"p99", CellType::real, Unit::none, "99th percentile.", [](auto& r) { return r.rank(99); }},
    {"max", CellType::real, Unit::none, "Maximum.", [](auto& r) { return r.sorted.back(); }},
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device >= 0 ? integer(r.device) : kAbsent; }},
    {"pid", CellType::integer, Unit::none, "Process id; absent for the whole device.",
     [](auto& r) { return r.process >= 0 ? integer(r.process) : kAbsent; }},
});

SamplesRow row_of(const SeriesKey& key, Series& series) {
    auto [place, metric, device, process] = key;
    std::vector<double>& values = series.values;
    std::sort(values.begin(), values.end());
    SamplesRow row{metric, series.unit, device, process, values};
    auto count = static_cast<double>(values.size());
    double squares = 0;
    if (!is_amount(place)) return row;
    double mean = 0;
    for (double value : values) mean += value / count;
    for (double value : values) squares += (value - mean) * (value - mean);
    row.mean = mean;
    if (values.size() > 1) row.std = std::sqrt(squares / (count - 1));
    return row;
}

Result<ResultTable> samples_table(const Facts& facts) {
    ResultTable table("samples", kSamplesColumns);
    for (auto& [key, series] : gather_series(facts.trace(), facts.options().device))
        table.add(kSamplesColumns, row_of(key, series));
    if (table.rows() == 0)
        table.notes.push_back(
            "No samples were recorded; gpu-profile record -- CMD and gpu-profile --capture FILE -- CMD record them.");
    return table;
}

}  // namespace

const Analysis kSamples{"samples", "", "Per sampled metric: mean, spread and percentiles.", kSamplesColumns,
                        samples_table};

}  // namespace gpuprof::tables
