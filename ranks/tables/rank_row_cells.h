// What the tables of a distributed job have in common.
#pragma once

#include "analyze/facts/facts.h"
#include "core/model/result_table.h"

namespace gpuprof::inline ranks {

// Whether the recording has ranks; if not, the table says what to do.
inline bool has_ranks(const Facts& facts, ResultTable& table) {
    if (facts.trace().tables().rank.rows > 0) return true;
    table.notes.push_back("This needs the recordings of several ranks: gpu-profile ranks FOLDER.");
    return false;
}

}  // namespace gpuprof::ranks
