// The fields of everything that can be selected: the tables of a trace whose rows are slices, as they were recorded, and beside
// the recorded columns where a row is drawn and what it belongs to.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/string_pool.h"
#include "core/format/column_encoder.h"
#include "core/model/column.h"
#include "core/schema/schema.h"
#include "core/view/scene.h"

namespace gpuprof {

struct EventTable {
    std::string_view name, doc;
    std::size_t rows = 0;
    std::vector<ColumnSpec> columns = {};  // of the views, in their order
    std::vector<ColumnView> views = {};    // into the trace, or into the columns below
    // Columns that the trace does not have.
    std::vector<std::unique_ptr<Column<std::int32_t>>> own_i32 = {};
    std::vector<std::unique_ptr<Column<std::int64_t>>> own_i64 = {};
    std::vector<std::unique_ptr<Column<StringId>>> own_texts = {};
};

// Only tables with rows. The trace of `facts` and the scene must outlive them. Texts are of `strings`, which has the trace's strings
// under their ids; the names of causes are added to it.
std::vector<EventTable> event_tables(const Facts& facts, const Scene& scene, StringPool& strings);

}  // namespace gpuprof
