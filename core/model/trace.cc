#include "core/model/trace.h"

namespace gpuprof::inline model {

std::string_view Trace::meta(std::string_view key) const {
    StringId id = strings_.find(key);
    const MetaTable& meta = tables_.meta;
    for (Row row = 0; row < meta.rows; ++row)
        if (id != kNoString && meta.key[row] == id) return text(meta.value[row]);
    return {};
}

void Trace::drop(const ColumnSelection& unread) {
    tables_.each_table([&](const TableSpec& spec, auto& table) {
        table.each_column([&](const ColumnSpec& column, auto& values) {
            if (unread.has(spec, column)) values.skip();
        });
    });
}

Trace copy_of(const Trace& trace) {
    Trace copy;
    copy.tables_ = trace.tables_;
    copy.strings_.merge(trace.strings_);  // into an empty pool: every string keeps its id
    copy.links_ = trace.links_;
    copy.completeness_ = trace.completeness_;
    copy.origin_ = trace.origin_;
    copy.window_ = trace.window_;
    copy.full_window_ = trace.full_window_;
    return copy;
}

}  // namespace gpuprof::model
