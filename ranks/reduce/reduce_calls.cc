#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/host/collective_records.h"
#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"
#include "ranks/reduce/calls.h"
#include "ranks/reduce/group_id.h"
#include "ranks/reduce/rank_rows.h"

namespace gpuprof::inline ranks {
namespace {

// Of each group, apart from open ones. Ranks of one group are rarely further apart.
constexpr std::size_t kMaxCompleted = 64;

bool is_pair(std::string_view name) { return name == "send" || name == "recv"; }

class CallReduction {
public:
    CallReduction(const Trace& trace, std::int32_t rank, Batch& into)
        : trace_(trace), table_(trace.tables().collective), rank_(rank), into_(into), rows_(trace, rank, into) {}

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

    // Numbers are those of collectives: sends and receives are counted apart.
    void write_group(std::int64_t id, const std::vector<Row>& rows, bool pairs) {
        std::optional<std::int64_t> first, last;
        for (Row row : rows) {
            if (pairs || !table_.seq.has(row)) continue;
            first = std::min(first.value_or(INT64_MAX), table_.seq[row]);
            last = std::max(last.value_or(INT64_MIN), table_.seq[row]);
        }
        RankGroupTable& table = into_.tables.rank_group;
        Row row = rows_.add_group(id, table_.group_size.value_or(rows.front(), 0), rows.front());
        rows_.put(table.name, row, table_.group.get(rows.front()));
        rows_.put(table.description, row, table_.group_description.get(rows.front()));
        rows_.put(table.first_seq, row, first);
        rows_.put(table.last_seq, row, last);
    }

    void write_call(Row from, std::int64_t group) {
        RankCallTable& table = into_.tables.rank_call;
        Row row = table.add();
        table.rank.set(row, rank_);
        if (group != kNoGroup) table.group_id.set(row, group);
        rows_.put(table.call, row, table_.call.get(from));
        rows_.put(table.seq, row, table_.seq.get(from));
        rows_.put(table.name, row, table_.name.get(from));
        rows_.put(table.type, row, table_.type.get(from));
        rows_.put(table.in_elements, row, table_.in_elements.get(from));
        rows_.put(table.out_elements, row, table_.out_elements.get(from));
        rows_.put(table.bytes, row, message_of(trace_, from).bytes);
        rows_.put(table.src_rank, row, table_.src_rank.get(from));
        rows_.put(table.dst_rank, row, table_.dst_rank.get(from));
        rows_.put(table.state, row, table_.state.get(from));
        rows_.put(table.created_time, row, table_.created_time.get(from));
        rows_.put(table.started_time, row, table_.started_time.get(from));
        rows_.put(table.stack, row, table_.stack.get(from));
    }

    const Trace& trace_;
    const CollectiveTable& table_;
    std::int32_t rank_;
    Batch& into_;
    RankRows rows_;
};

}  // namespace

bool is_flight_dump(const Trace& trace) {
    const CollectiveTable& table = trace.tables().collective;
    if (table.rows == 0) return trace.origin().tool == meta_key::kFlightRecorderTool;
    return !table.state.none_present();
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
    if (table.rows > 0) return counts;
    const LossTable& losses = dump.tables().loss;
    for (Row row = 0; row < losses.rows; ++row)
        if (dump.text(losses.kind.value_or(row, kNoString)) == spec_of(Loss::recorder_loss).name)
            counts.lost += losses.count.value_or(row, 0);
    return counts;
}

}  // namespace gpuprof::ranks
