#include "core/model/privacy/recorded_secrets.h"

#include <string>

#include "core/base/text/command_line.h"
#include "core/base/text/secrets.h"

namespace gpuprof::inline model {
namespace {

void replace(Column<StringId>& column, Row row, const std::string& text, StringPool& strings) {
    if (text != strings[column[row]]) column.change(row, strings.intern(text));
}

}  // namespace

void remove_secrets(Tables& tables, StringPool& strings) {
    ProcessTable& process = tables.process;
    for (Column<StringId>* column : {&process.name, &process.command})
        for (Row row = 0; row < process.rows; ++row)
            if (column->has(row)) replace(*column, row, without_secrets(strings[(*column)[row]]), strings);
    MetaTable& meta = tables.meta;
    for (Row row = 0; row < meta.rows; ++row) {
        if (!meta.value.has(row)) continue;
        bool named = meta.key.has(row) && names_a_secret(strings[meta.key[row]]);
        replace(meta.value, row, named ? "***" : without_secrets(strings[meta.value[row]]), strings);
    }
}

}  // namespace gpuprof::model
