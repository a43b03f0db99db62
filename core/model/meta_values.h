// Facts of the table `meta` that a recording may state several times, once per process. Trace::meta() reads single ones.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline model {

// In recorded order.
inline std::vector<std::string_view> meta_values(const Trace& trace, std::string_view key) {
    std::vector<std::string_view> values;
    const MetaTable& meta = trace.tables().meta;
    for (Row row = 0; row < meta.rows; ++row)
        if (trace.text(meta.key.value_or(row, kNoString)) == key)
            values.push_back(trace.text(meta.value.value_or(row, kNoString)));
    return values;
}

}  // namespace gpuprof::model
