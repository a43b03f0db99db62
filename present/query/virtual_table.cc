#include "present/query/virtual_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <new>
#include <optional>

#include "core/base/files/sqlite_statement.h"
#include "present/query/row_scan.h"

namespace gpuprof::inline query {
namespace {

// The client data of an SQLite module: one relation and the lookup tables built for joins over it.
struct Source {
    Catalogue& catalogue;
    Relation& relation;
    Lookups lookups;
};

struct Table : sqlite3_vtab {
    Source* source = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
    const Frame* frame = nullptr;
    std::optional<RowScan> scan;
};

Source& source_of(sqlite3_vtab* table) { return *static_cast<Table*>(table)->source; }

// C++ exceptions must not propagate through SQLite.
template <class Step>
int guarded(Step&& step) noexcept {
    try {
        return step();
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (...) {
        return SQLITE_INTERNAL;
    }
}

std::string_view declared_type(FrameType type) {
    return type == FrameType::text ? "TEXT" : type == FrameType::f64 ? "REAL" : "INTEGER";
}

std::string declaration(const Relation& relation) {
    std::string columns;
    for (const FrameColumn& column : relation.shape.columns)
        columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, declared_type(column.type));
    return fmt::format("CREATE TABLE x({})", columns);
}

int connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** out, char** error) {
    return guarded([&] {
        auto* table = new Table();
        table->source = static_cast<Source*>(source);
        int code = sqlite3_declare_vtab(database, declaration(table->source->relation).c_str());
        if (code != SQLITE_OK) {
            *error = sqlite3_mprintf("%s", sqlite3_errmsg(database));
            delete table;
            return code;
        }
        sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
        *out = table;
        return SQLITE_OK;
    });
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* asked) {
    return guarded([&] {
        const Relation& relation = source_of(table).relation;
        const Frame* values = relation.analysis == nullptr ? &relation.shape : nullptr;
        asked->idxStr = sqlite3_mprintf("%s", make_plan(relation.shape, values, asked).text().c_str());
        asked->needToFreeIdxStr = 1;
        return asked->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
    });
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    return guarded([&] {
        *out = new Cursor();
        return SQLITE_OK;
    });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* at, int, const char* plan, int, sqlite3_value** values) {
    return guarded([&] {
        auto* cursor = static_cast<Cursor*>(at);
        Source& source = source_of(cursor->pVtab);
        Result<const Frame*> frame = source.catalogue.values(source.relation);
        if (!frame.ok()) {
            sqlite3_free(cursor->pVtab->zErrMsg);
            cursor->pVtab->zErrMsg =
                sqlite3_mprintf("%s: %s", source.relation.name.c_str(), frame.error().message.c_str());
            return SQLITE_ERROR;
        }
        cursor->frame = *frame;
        cursor->scan.reset();
        cursor->scan.emplace(**frame, ScanPlan::of_text(plan), values, source.lookups);
        return SQLITE_OK;
    });
}

int next(sqlite3_vtab_cursor* cursor) {
    static_cast<Cursor*>(cursor)->scan->next();
    return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->scan->done() ? 1 : 0; }

// Absent values are NULL, the default of a result.
int column_value(sqlite3_vtab_cursor* at, sqlite3_context* result, int index) {
    auto* cursor = static_cast<Cursor*>(at);
    const FrameColumn& column = cursor->frame->columns[static_cast<std::size_t>(index)];
    Row row = cursor->scan->row();
    if (!column.has(row)) return SQLITE_OK;
    if (column.type == FrameType::text) {
        std::string_view text = (*cursor->frame->strings)[column.text(row)];
        const char* bytes = text.data() == nullptr ? "" : text.data();
        sqlite3_result_text(result, bytes, static_cast<int>(text.size()), SQLITE_STATIC);
    } else if (column.type == FrameType::f64) {
        sqlite3_result_double(result, column.real(row));
    } else {
        sqlite3_result_int64(result, column.integer(row));
    }
    return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = sqlite3_int64{static_cast<Cursor*>(cursor)->scan->row()} + 1;
    return SQLITE_OK;
}

// No xCreate: the table is eponymous, and statements cannot create another.
sqlite3_module module_of_relations() {
    sqlite3_module module{};
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xOpen = open_cursor;
    module.xClose = close_cursor;
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = at_end;
    module.xColumn = column_value;
    module.xRowid = row_id;
    return module;
}

// SQLite connects a table when a statement first names it, and then calls the authorizer as if a table were created. So
// each table is named once before the authorizer is set.
int name_once(sqlite3* database, const std::string& table) {
    return SqliteStatement(database, fmt::format("SELECT 1 FROM \"{}\"", table).c_str()).code();
}

}  // namespace

Status add_virtual_tables(sqlite3* database, Catalogue& catalogue) {
    static const sqlite3_module kModule = module_of_relations();
    for (const Relation& relation : catalogue.relations()) {
        auto* source = new Source{catalogue, *catalogue.find(relation.name), {}};
        int code = sqlite3_create_module_v2(database, relation.name.c_str(), &kModule, source,
                                            [](void* given) { delete static_cast<Source*>(given); });
        if (code == SQLITE_OK) code = name_once(database, relation.name);
        if (code != SQLITE_OK)
            return Error{ExitCode::internal,
                         fmt::format("cannot register table {}: {}", relation.name, sqlite3_errmsg(database))};
    }
    return {};
}

}  // namespace gpuprof::query
