// The complete result of a statement as columns. In SQL every value has its own type, but a result column has one:
// integer; real if any value is real; text if any value is text.
#pragma once

#include "present/query/frame.h"
#include "present/query/sql.h"

namespace gpuprof::inline query {

// Fails if there are more than `most` rows.
Result<std::unique_ptr<OwnedFrame>> collect(SqlRows& rows, std::size_t most);

}  // namespace gpuprof::query
