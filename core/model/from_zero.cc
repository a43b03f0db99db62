#include "core/model/from_zero.h"

namespace gpuprof {

Trace from_zero(Trace given) {
    Trace trace = std::move(given);
    TimeNs zero = trace.zero();
    if (zero == 0) return trace;
    trace.tables_.each_table([zero](const TableSpec&, auto& table) {
        table.each_column([zero](const ColumnSpec& spec, auto& column) {
            if constexpr (std::is_same_v<std::remove_reference_t<decltype(column)>, Column<std::int64_t>>) {
                if (spec.type != ColumnType::Time || column.none_present()) return;
                // Times of samples are not judged when a trace is built: whatever a damaged file has for them stays a number.
                for (Row row = 0; row < column.size(); ++row)
                    if (column.has(row)) column.change(row, span_between(zero, column[row]));
            }
        });
    });
    trace.window_ = {trace.window_.start - zero, trace.window_.end - zero};
    trace.whole_ = {0, trace.whole_.end - zero};
    return trace;
}

}  // namespace gpuprof
