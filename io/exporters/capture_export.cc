// The capture exporter: every table of a trace in our own format. What TraceBuilder::finish() derives is not stored but
// derived again on reading, so that importing the file gives the same tables. Two facts are added to `meta`: the tool
// that recorded, and the importer that read its file, unless the trace came from a capture that has them.
#include "io/exporters/capture_export.h"

#include <type_traits>
#include <vector>

#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"
#include "io/exporters/column_views.h"
#include "io/exporters/exporter.h"

namespace gpuprof::inline exporters {
namespace {

template <class Table>
Status write_table(CaptureWriter& writer, const TableSpec& spec, const Table& table, const StringPool& strings) {
    std::vector<ColumnView> columns = column_views(table);
    return writer.write({spec.name, table.rows, columns}, strings);
}

Status write_losses(CaptureWriter& writer, const Trace& trace) {
    LossTable kept = trace.tables().loss;
    PodVector<Row> rows;
    for (Row row = 0; row < kept.rows; ++row)
        if (!is_derived_loss(trace.text(kept.kind.value_or(row, kNoString)))) rows.push_back(row);
    kept.each_column([&](const ColumnSpec&, auto& column) { column.gather(rows); });
    kept.rows = rows.size();
    return write_table(writer, LossTable::spec(), kept, trace.strings());
}

Status write_meta(CaptureWriter& writer, const Trace& trace) {
    MetaTable meta;
    StringPool strings;
    auto add = [&](std::string_view key, std::string_view value) {
        Row row = meta.add();
        meta.key.set(row, strings.intern(key));
        meta.value.set(row, strings.intern(value));
    };
    const MetaTable& known = trace.tables().meta;
    for (Row row = 0; row < known.rows; ++row)
        if (known.key.has(row) && known.value.has(row)) add(trace.text(known.key[row]), trace.text(known.value[row]));
    if (trace.meta(meta_key::kTool).empty() && !trace.origin().tool.empty()) add(meta_key::kTool, trace.origin().tool);
    if (trace.meta("importer").empty()) add("importer", trace.origin().importer);
    return write_table(writer, MetaTable::spec(), meta, strings);
}

}  // namespace

Status write_capture(const Trace& trace, Sink& sink, WriterOptions options) {
    CaptureWriter writer(sink, std::move(options));
    Status status = writer.begin();
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        if (!status) return;
        if constexpr (std::is_same_v<Table, MetaTable>)
            status = write_meta(writer, trace);
        else if constexpr (std::is_same_v<Table, LossTable>)
            status = write_losses(writer, trace);
        else
            status = write_table(writer, spec, table, trace.strings());
    });
    return status ? writer.end() : status;
}

Status export_capture(const Trace& trace, Sink& sink) { return write_capture(trace, sink, {}); }

}  // namespace gpuprof::exporters
