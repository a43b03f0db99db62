#include "core/schema/privacy.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/schema/privacy.def"
#include "core/schema/tables.def"

namespace gpuprof {
namespace {

struct TextColumn {
    std::string_view table, column;
    Privacy privacy;
};
#define GPUPROF_TEXT(table, column, kind) {#table, #column, Privacy::kind},
constexpr TextColumn kTexts[] = {GPUPROF_TEXT_COLUMNS(GPUPROF_TEXT)};

constexpr bool is_declared(std::string_view table, std::string_view column) {
    return std::count_if(std::begin(kTexts), std::end(kTexts),
                         [&](const TextColumn& text) { return text.table == table && text.column == column; }) == 1;
}

// Every Str column of tables.def has one line of privacy.def, and every such line its column.
constexpr bool all_declared() {
    struct Column {
        std::string_view name;
        ColumnType type;
    };
    std::size_t columns = 0;
    bool all = true;
#define GPUPROF_NAME_AND_TYPE(name, type, unit, doc) Column{#name, ColumnType::type},
#define GPUPROF_CHECK_TABLE(table, Type, doc)                                       \
    for (const Column& column : {GPUPROF_COLUMNS_##table(GPUPROF_NAME_AND_TYPE)}) { \
        if (column.type != ColumnType::Str) continue;                               \
        ++columns;                                                                  \
        all = all && is_declared(#table, column.name);                              \
    }
    GPUPROF_TABLES(GPUPROF_CHECK_TABLE)
    return all && columns == std::size(kTexts);
}
static_assert(all_declared(), "a text column of tables.def has no line in privacy.def, or the reverse");

}  // namespace

Privacy privacy_of(std::string_view table, std::string_view column) {
    for (const TextColumn& text : kTexts)
        if (text.table == table && text.column == column) return text.privacy;
    std::abort();
}

}  // namespace gpuprof
