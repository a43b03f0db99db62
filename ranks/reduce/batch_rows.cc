#include "ranks/reduce/batch_rows.h"

#include <algorithm>

namespace gpuprof::inline ranks {
namespace {

std::size_t size_of(const RankSyncTable& syncs, Row row) {
    return static_cast<std::size_t>(std::max(syncs.transfers.value_or(row, 0), 0));
}

}  // namespace

BatchRows::BatchRows(const RankSyncTable& syncs, const RankTransferTable& transfers) : syncs_(syncs) {
    if (transfers.rows == 0) return;
    for (Row row = 0; row < transfers.rows; ++row) rows_[transfers.rank.value_or(row, -1)].push_back(row);
    std::map<std::int32_t, std::size_t> next;  // by rank
    begin_.reserve(syncs.rows);
    for (Row row = 0; row < syncs.rows; ++row) {
        std::size_t& begin = next[syncs.rank.value_or(row, -1)];
        begin_.push_back(begin);
        begin += size_of(syncs, row);
    }
}

std::span<const Row> BatchRows::of(Row sync) const {
    std::size_t size = size_of(syncs_, sync);
    auto rank = rows_.find(syncs_.rank.value_or(sync, -1));
    if (size == 0 || rank == rows_.end()) return {};
    const std::vector<Row>& rows = rank->second;
    std::size_t begin = begin_[sync];
    if (size > rows.size() || begin > rows.size() - size) return {};
    return {rows.data() + begin, size};
}

}  // namespace gpuprof::ranks
