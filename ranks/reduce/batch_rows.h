// Which rows of table rank_transfer belong to a row of rank_collective: those of a rank's batches follow each other in the order
// of the batches.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "core/model/tables.h"

namespace gpuprof::inline ranks {

class BatchRows {
public:
    // Keeps a reference to `collectives`.
    BatchRows(const RankCollectiveTable& collectives, const RankTransferTable& transfers);

    // Nothing, if the row is no batch or some are missing.
    std::span<const Row> of(Row collective) const;

private:
    const RankCollectiveTable& collectives_;
    std::map<std::int32_t, std::vector<Row>> rows_;  // by rank
    std::vector<std::size_t> begin_;                 // by row of rank_collective, in rows_; empty without transfers
};

}  // namespace gpuprof::ranks
