// What a communication library recorded about the collectives of a trace, found by the ids that link it to kernels.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyze/facts/id_map.h"
#include "analyze/knowledge/collective_name.h"
#include "core/base/large_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// The message of a collective. bytes: the message size as the NCCL tests define it, the larger of a rank's input and
// output.
struct CollectiveMessage {
    CollectiveKind kind = CollectiveKind::unknown;
    std::optional<std::int64_t> bytes, ranks;
    auto operator<=>(const CollectiveMessage&) const = default;
};

// `row`: of table collective.
CollectiveMessage message_of(const Trace& trace, Row row);

class CollectiveRecords {
public:
    explicit CollectiveRecords(const Trace& trace);

    // The row of table collective that describes this kernel, or kNoRow.
    Row find(Row kernel) const;

    // The other rows that describe the same kernel as this one: it executes a group of calls.
    std::span<const Row> others(Row record) const;

private:
    using Key = std::pair<std::uint32_t, std::int64_t>;
    // Device-side records do not name their process.
    template <class Table>
    std::uint32_t process(const Table& table, Row row) const {
        if (trace_.tables().process.rows <= 1) return processes_.other();
        return processes_.of(table.process.value_or(row, kNoString));
    }

    // Sorted by key, then row: millions of records, which a map would hold in small blocks.
    using Index = LargeVector<std::pair<Key, Row>>;
    static Row find(const Index& index, Key key);

    const Trace& trace_;
    Slots processes_;
    Index by_correlation_, by_external_;
    std::map<Row, std::vector<Row>> others_;  // by the first row of a kernel; of few kernels
};

}  // namespace gpuprof::facts
