#include <algorithm>
#include <map>
#include <tuple>

#include "core/analyze/facts/collective_records.h"
#include "core/analyze/ranks/calls.h"
#include "core/analyze/ranks/group_id.h"

namespace gpuprof {
namespace {

// Of each group, apart from open ones. Ranks of one group are rarely further apart.
constexpr std::size_t kMaxCompleted = 64;

bool is_pair(std::string_view name) { return name == "send" || name == "recv"; }

class CallReduction {
public:
    CallReduction(const Trace& trace, std::int32_t rank, Batch& into)
        : trace_(trace), table_(trace.tables().collective), rank_(rank), into_(into) {}

    void write() {
        std::vector<std::int64_t> groups(table_.rows, kNoGroup);
        std::map<std::pair<std::int64_t, bool>, std::vector<Row>> by_group;
        for (Row row = 0; row < table_.rows; ++row) {
            if (!table_.state.has(row)) continue;
            if (std::optional<GroupKey> key = group_key(trace_, row)) groups[row] = key->id();
            by_group[{groups[row], is_pair(name_of(row))}].push_back(row);
        }
        std::vector<Row> kept;
        for (const auto& [key, rows] : by_group) {
            if (key.first != kNoGroup) write_group(key.first, rows, key.second);
            std::size_t completed = 0;
            for (auto row = rows.rbegin(); row != rows.rend(); ++row)
                if (trace_.text(table_.state[*row]) != "completed" || ++completed <= kMaxCompleted)
                    kept.push_back(*row);
        }
        std::sort(kept.begin(), kept.end());
        for (Row row : kept) write_call(row, groups[row]);
    }

private:
    static constexpr std::int64_t kNoGroup = -1;

    std::string_view name_of(Row row) const { return trace_.text(table_.name.value_or(row, kNoString)); }

    template <class T>
    static void put(Column<T>& column, Row row, const std::optional<T>& value) {
        if (value) column.set(row, *value);
    }
    void put(Column<StringId>& column, Row row, const std::optional<StringId>& value) {
        if (value) column.set(row, into_.intern(trace_.text(*value)));
    }

    // Numbers are those of collectives: sends and receives are counted apart.
    void write_group(std::int64_t id, const std::vector<Row>& rows, bool pairs) {
        std::optional<std::int64_t> first, last;
        for (Row row : rows) {
            if (pairs || !table_.seq.has(row)) continue;
            first = std::min(first.value_or(INT64_MAX), table_.seq[row]);
            last = std::max(last.value_or(INT64_MIN), table_.seq[row]);
        }
        RankGroupTable& table = into_.tables.rank_group;
        Row row = table.add();
        table.rank.set(row, rank_);
        table.group_id.set(row, id);
        put(table.name, row, table_.group.get(rows.front()));
        put(table.description, row, table_.group_description.get(rows.front()));
        std::optional<std::int64_t> size = table_.group_size.get(rows.front());
        if (size && *size > 0 && *size <= INT32_MAX) table.size.set(row, static_cast<std::int32_t>(*size));
        put(table.ranks, row, table_.ranks.get(rows.front()));
        put(table.first_seq, row, first);
        put(table.last_seq, row, last);
    }

    void write_call(Row from, std::int64_t group) {
        RankCallTable& table = into_.tables.rank_call;
        Row row = table.add();
        table.rank.set(row, rank_);
        if (group != kNoGroup) table.group_id.set(row, group);
        put(table.call, row, table_.call.get(from));
        put(table.seq, row, table_.seq.get(from));
        put(table.name, row, table_.name.get(from));
        put(table.type, row, table_.type.get(from));
        put(table.in_elements, row, table_.in_elements.get(from));
        put(table.out_elements, row, table_.out_elements.get(from));
        put(table.bytes, row, message_of(trace_, from).bytes);
        put(table.src_rank, row, table_.src_rank.get(from));
        put(table.dst_rank, row, table_.dst_rank.get(from));
        put(table.state, row, table_.state.get(from));
        put(table.created_time, row, table_.created_time.get(from));
        put(table.started_time, row, table_.started_time.get(from));
        put(table.stack, row, table_.stack.get(from));
    }

    const Trace& trace_;
    const CollectiveTable& table_;
    std::int32_t rank_;
    Batch& into_;
};

}  // namespace

bool is_flight_dump(const Trace& trace) {
    const CollectiveTable& table = trace.tables().collective;
    return table.rows > 0 && !table.state.none_present();
}

void reduce_calls(const Trace& dump, std::int32_t rank, Batch& into) { CallReduction(dump, rank, into).write(); }

CallCounts count_calls(const Trace& dump) {
    const CollectiveTable& table = dump.tables().collective;
    CallCounts counts;
    std::optional<std::int64_t> first;
    for (Row row = 0; row < table.rows; ++row) {
        counts.calls += table.state.has(row);
        if (table.call.has(row)) first = std::min(first.value_or(INT64_MAX), table.call[row]);
    }
    counts.lost = std::max<std::int64_t>(first.value_or(0), 0);
    return counts;
}

}  // namespace gpuprof
