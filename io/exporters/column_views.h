// The columns of a trace's table in the form that the format layer writes, without those that have no values.
#pragma once

#include <vector>

#include "core/format/column_encoder.h"
#include "core/model/tables.h"

namespace gpuprof::inline exporters {

template <class Table>
std::vector<ColumnView> column_views(const Table& table) {
    std::vector<ColumnView> views;
    table.each_column([&](const ColumnSpec& spec, const auto& column) {
        if (!column.none_present())
            views.push_back(
                {spec.name, spec.type, name_of(spec.unit), column.raw(), column.validity(), column.width()});
    });
    return views;
}

}  // namespace gpuprof::exporters
