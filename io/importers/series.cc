// Importer for recorded series: device samples as CSV, as `gpu-profile --csv` writes and `--backend replay:FILE` plays
// them.
// Format: core/format/series_csv.h.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/format/series_csv.h"
#include "core/schema/plausible.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::size_t kMaxSeriesBytes = std::size_t{1} << 30;

}  // namespace

int sniff_series(std::string_view head) { return is_series_heading(head.substr(0, head.find('\n'))) ? 85 : 0; }

Status import_series(Source& source, TraceBuilder& builder) {
    Result<std::string> text = read_all(source, kMaxSeriesBytes);
    if (!text.ok()) return text.error();
    // A line is one reading and gives one row per metric.
    constexpr std::size_t kBytesPerLine = sizeof(Reading) + 512;
    auto lines = static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n'));
    if (MemoryLimit limit(source); limit.is_below(text->size() + lines * kBytesPerLine)) return limit.error();
    Result<RecordedSeries> series = parse_series(*text, source.name());
    if (!series.ok()) return series.error();
    Batch batch;
    SampleTable& table = batch.tables.sample;
    for (const Reading& reading : series->readings)
        for (const MetricSpec& spec : kMetrics) {
            std::optional<double> value = reading.get(spec.metric);
            if (!value) continue;
            if (!plausible(spec.metric, *value)) {
                batch.lose(Loss::bad_number, fmt::format("{}: {} {}", source.name(), spec.field, *value));
                continue;
            }
            Row row = table.add();
            table.time.set(row, reading.time);
            table.device.set(row, reading.device);
            table.metric.set(row, batch.intern(spec.name));
            if (spec.unit != Unit::none) table.unit.set(row, batch.intern(name_of(spec.unit)));
            table.value.set(row, *value);
        }
    if (series->bad_lines > 0) batch.lose(Loss::malformed_event, source.name(), series->bad_lines);
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("recorded series");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
