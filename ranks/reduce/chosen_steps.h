// Which steps of a large job are replayed. The sums of all steps are small, and always read; collectives are many, and of
// a job of thousands of ranks only those of some steps fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/tables.h"

namespace gpuprof::inline ranks {

class StepChoice {
public:
    // "": as many as fit; "all"; "12": that many, spread evenly; "slowest:8"; "100:200", the last one excluded.
    static Result<StepChoice> parse(std::string_view text);

    // The steps to read, of those whose lengths are given. `collectives`: rows of one step of all ranks together. Nothing
    // means all. Each step is read with the one before it, so that it begins as it did.
    std::set<std::int64_t> choose(const std::map<std::int64_t, DurNs>& lengths, std::size_t collectives) const;

private:
    enum class Kind : std::uint8_t { fitting, all, spread, slowest, range };
    Kind kind_ = Kind::fitting;
    std::int64_t from_ = 0, to_ = 0;  // or, in to_, a number
};

// Collectives that are replayed with about 2 GB.
inline constexpr std::size_t kMostCollectives = 4'000'000;

template <class Table>
void keep_rows(Table& table, const PodVector<Row>& kept) {
    table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    table.rows = kept.size();
}

// Removes the collectives of all other steps; those that counted from one of them count from nothing.
void keep_steps(RankCollectiveTable& table, RankTransferTable& transfers, const std::set<std::int64_t>& steps);

}  // namespace gpuprof::ranks
