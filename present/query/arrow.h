// A frame as an Arrow stream of one record batch, for pyarrow, polars, duckdb and other users of the Arrow C interface.
// Columns are zero-copy, except end_ns, booleans (Arrow packs them) and columns without values, which are computed.
//
//     integer -> int64 or int32    real -> float64    boolean -> bool    text -> dictionary<int32, utf8>
//
// The dictionary of a text column contains all texts of the trace and is shared by all columns. The unit and
// description of a column are the metadata `unit` and `doc` of its field.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "present/query/arrow_abi.h"
#include "present/query/frame.h"

namespace gpuprof::inline query {

// The texts of a pool as one array of valid UTF-8.
struct Texts {
    std::vector<std::int32_t> offsets;
    std::string bytes;
};
Result<std::shared_ptr<const Texts>> texts_of(const StringPool& pool);

// Fills `out`, which the caller releases. `owner` keeps the frame's data alive while any array of the stream exists.
void export_stream(const Frame& frame, std::shared_ptr<const Texts> texts, std::shared_ptr<const void> owner,
                   ArrowArrayStream* out);

}  // namespace gpuprof::query
