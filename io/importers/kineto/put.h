// RowWriter's member templates, shared by its source files.
#pragma once

#include <limits>

#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {

// Puts an integer field into a column; missing or out-of-range values stay absent.
template <class T>
[[gnu::always_inline]] inline void RowWriter::put(Column<T>& column, Row row, const Event& event, Field field) {
    if (column.is_skipped()) return;
    std::optional<std::int64_t> value = integer(event, field);
    if (!value) return;
    if (*value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max())
        return lose(Loss::bad_number, offset_);
    column.set(row, static_cast<T>(*value));
}

}  // namespace gpuprof::importers::kineto
