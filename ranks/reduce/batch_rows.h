// Which rows of table rank_transfer belong to a row of rank_sync: those of a rank's batches follow each other in the order
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
    // Keeps a reference to `syncs`.
    BatchRows(const RankSyncTable& syncs, const RankTransferTable& transfers);

    // Nothing, if the row is no batch or some are missing.
    std::span<const Row> of(Row sync) const;

private:
    const RankSyncTable& syncs_;
    std::map<std::int32_t, std::vector<Row>> rows_;  // by rank
    std::vector<std::size_t> begin_;                 // by row of rank_sync, in rows_; empty without transfers
};

}  // namespace gpuprof::ranks
