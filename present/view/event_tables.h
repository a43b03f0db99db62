// The fields of every selectable event: the tables of a trace whose rows are slices, as recorded, plus the lane and the
// related rows of each row.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/string_pool.h"
#include "core/format/column_encoder.h"
#include "core/model/column.h"
#include "core/schema/schema.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {

struct EventTable {
    std::string_view name, doc;
    std::size_t rows = 0;
    std::vector<ColumnSpec> columns = {};  // of the views, in the same order
    std::vector<ColumnView> views = {};    // into the trace, or into the columns below
    // Columns that are not in the trace.
    std::vector<std::unique_ptr<Column<std::int32_t>>> own_i32 = {};
    std::vector<std::unique_ptr<Column<std::int64_t>>> own_i64 = {};
    std::vector<std::unique_ptr<Column<StringId>>> own_texts = {};
};

// Only tables with rows. The trace of `facts` and the scene must outlive the result. Texts refer to `strings`, which
// contains the trace's strings under their ids; this adds the names of causes to it.
std::vector<EventTable> event_tables(const Facts& facts, const Scene& scene, StringPool& strings);

}  // namespace gpuprof::view
