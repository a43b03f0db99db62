#include "ranks/reduce/batch_rows.h"

#include <algorithm>

namespace gpuprof::inline ranks {
namespace {

std::size_t size_of(const RankCollectiveTable& collectives, Row row) {
    return static_cast<std::size_t>(std::max(collectives.transfers.value_or(row, 0), 0));
}

}  // namespace

BatchRows::BatchRows(const RankCollectiveTable& collectives, const RankTransferTable& transfers)
    : collectives_(collectives) {
    if (transfers.rows == 0) return;
    for (Row row = 0; row < transfers.rows; ++row) rows_[transfers.rank.value_or(row, -1)].push_back(row);
    std::map<std::int32_t, std::size_t> next;  // by rank
    begin_.reserve(collectives.rows);
    for (Row row = 0; row < collectives.rows; ++row) {
        std::size_t& begin = next[collectives.rank.value_or(row, -1)];
        begin_.push_back(begin);
        begin += size_of(collectives, row);
    }
}

std::span<const Row> BatchRows::of(Row collective) const {
    std::size_t size = size_of(collectives_, collective);
    auto rank = rows_.find(collectives_.rank.value_or(collective, -1));
    if (size == 0 || rank == rows_.end()) return {};
    const std::vector<Row>& rows = rank->second;
    std::size_t begin = begin_[collective];
    if (size > rows.size() || begin > rows.size() - size) return {};
    return {rows.data() + begin, size};
}

}  // namespace gpuprof::ranks
