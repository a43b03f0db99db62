#include "core/schema/column_selection.h"

#include <algorithm>
#include <cstdlib>

namespace gpuprof::inline schema {
namespace {

const ColumnSpec& column_spec(const TableSpec& table, std::string_view name) {
    auto found = std::find_if(table.columns.begin(), table.columns.end(),
                              [name](const ColumnSpec& column) { return column.name == name; });
    if (found == table.columns.end()) std::abort();
    return *found;
}

}  // namespace

ColumnSelection::ColumnSelection(std::initializer_list<TableColumns> tables) : all_(false) {
    for (const TableColumns& each : tables) {
        const TableSpec& table = table_spec(each.table);
        tables_.insert(table.name);
        if (each.columns == "*")
            for (const ColumnSpec& column : table.columns) columns_.insert({table.name, column.name});
        for (std::string_view rest = each.columns == "*" ? "" : each.columns; !rest.empty();) {
            std::size_t end = std::min(rest.find(' '), rest.size());
            columns_.insert({table.name, column_spec(table, rest.substr(0, end)).name});
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
}

}  // namespace gpuprof::schema
