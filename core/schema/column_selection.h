// Which columns of which tables someone reads. Importers and TraceBuilder skip the others, so that a recording takes
// only the memory that its reader needs. By default, everything is selected.
#pragma once

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "core/schema/schema.h"

namespace gpuprof::inline schema {

// The columns of one table, separated by spaces; "*" for all of them.
struct TableColumns {
    std::string_view table, columns;
};

class ColumnSelection {
public:
    ColumnSelection() = default;
    // Tables that are not listed are skipped. Aborts for names that tables.def does not declare.
    explicit ColumnSelection(std::initializer_list<TableColumns> tables);

    bool has_all() const { return all_; }
    // Whether any column of the table is selected.
    bool has(const TableSpec& table) const { return all_ || tables_.contains(table.name); }
    bool has(const TableSpec& table, const ColumnSpec& column) const {
        return all_ || columns_.contains({table.name, column.name});
    }

private:
    bool all_ = true;
    std::set<std::string_view> tables_;
    std::set<std::pair<std::string_view, std::string_view>> columns_;
};

}  // namespace gpuprof::schema
