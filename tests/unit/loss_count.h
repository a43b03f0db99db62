// How many of a kind of loss a trace has; 0 when there is none.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/trace.h"

namespace gpuprof {

inline std::int64_t losses(const Trace& trace, std::string_view kind) {
    const LossTable& table = trace.tables().loss;
    for (Row row = 0; row < table.rows; ++row)
        if (trace.text(table.kind[row]) == kind) return table.count[row];
    return 0;
}

}  // namespace gpuprof
