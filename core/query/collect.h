// The whole answer of a statement as columns. SQL gives each value a type of its own; a column of the answer has one: integers, reals
// when any of its values is real, text when any is text.
#pragma once

#include "core/query/frame.h"
#include "core/query/sql.h"

namespace gpuprof {

// Fails when there are more rows than `most`.
Result<std::unique_ptr<OwnedFrame>> collect(SqlRows& rows, std::size_t most);

}  // namespace gpuprof
