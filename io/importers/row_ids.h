// Ids as tools write them: 0 means none.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/column.h"

namespace gpuprof::inline importers {

inline void set_id(Column<std::int64_t>& column, Row row, std::optional<std::int64_t> id) {
    if (id && *id != 0) column.set(row, *id);
}

}  // namespace gpuprof::importers
