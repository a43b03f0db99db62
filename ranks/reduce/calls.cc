#include "ranks/reduce/calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"

namespace gpuprof::inline ranks {
namespace {

// The group that PyTorch creates for all ranks.
constexpr std::string_view kDefaultGroup = "default_pg";

CallState state_of(std::string_view name) {
    if (name == "completed") return CallState::completed;
    if (name == "started") return CallState::started;
    return name == "scheduled" ? CallState::scheduled : CallState::called;
}

class CallReader {
public:
    explicit CallReader(const Trace& trace) : trace_(trace) {}

    RankCalls read() && {
        read_ranks();
        read_groups();
        read_calls();
        return std::move(found_);
    }

private:
    std::string_view text(const Column<StringId>& column, Row row) const {
        return trace_.text(column.value_or(row, kNoString));
    }

    void read_ranks() {
        const RankTable& table = trace_.tables().rank;
        for (Row row = 0; row < table.rows; ++row) {
            if (!table.rank.has(row)) continue;
            CallingRank& rank = found_.ranks[table.rank[row]];
            rank.dump = rank.dump || table.calls.has(row);
            rank.lost = std::max(rank.lost, table.lost_calls.value_or(row, 0));
        }
    }

    void read_groups() {
        const RankGroupTable& table = trace_.tables().rank_group;
        RankLists lists;
        for (Row row = 0; row < table.rows; ++row) {
            if (!table.group_id.has(row) || !table.rank.has(row)) continue;
            std::int64_t id = table.group_id[row];
            if (table.first_seq.has(row) && table.last_seq.has(row))
                found_.ranges[{id, table.rank[row]}] = {table.first_seq[row], table.last_seq[row]};
            auto [known, fresh] = found_.groups.try_emplace(id);
            if (!fresh) continue;
            CallGroup& group = known->second;
            std::string_view description = text(table.description, row), ranks = text(table.ranks, row);
            group.label = description.empty() ? text(table.name, row) : description;
            if (std::optional<RankList> list = lists.parse(ranks)) group.ranks = std::move(*list);
            group.all_ranks = group.ranks.empty() && description == kDefaultGroup;
            if (!group.ranks.empty()) group.label += fmt::format("{}({})", group.label.empty() ? "" : " ", ranks);
        }
    }

    void read_calls() {
        const RankCallTable& table = trace_.tables().rank_call;
        for (Row row = 0; row < table.rows; ++row) {
            if (!table.rank.has(row) || !table.state.has(row)) continue;
            RankCall& call = found_.calls.emplace_back();
            call.rank = table.rank[row];
            call.group = table.group_id.value_or(row, -1);
            call.call = table.call.value_or(row, -1);
            call.seq = table.seq.value_or(row, -1);
            call.name = text(table.name, row);
            call.type = text(table.type, row);
            call.stack = text(table.stack, row);
            call.in_elements = table.in_elements.get(row);
            call.out_elements = table.out_elements.get(row);
            call.bytes = table.bytes.get(row);
            call.from = table.src_rank.value_or(row, -1);
            call.to = table.dst_rank.value_or(row, -1);
            call.state = state_of(text(table.state, row));
            call.created = table.created_time.get(row);
            found_.ranks[call.rank].dump = true;
        }
        std::stable_sort(found_.calls.begin(), found_.calls.end(), [](const RankCall& a, const RankCall& b) {
            return std::pair(a.rank, a.call) < std::pair(b.rank, b.call);
        });
    }

    const Trace& trace_;
    RankCalls found_;
};

// One dump in the form of a job's.
Trace reduced(const Trace& dump) {
    const ProcessTable& processes = dump.tables().process;
    std::int64_t known = processes.rows > 0 ? processes.rank.value_or(0, kUnknownRank) : kUnknownRank;
    auto rank = static_cast<std::int32_t>(known >= 0 && known <= INT32_MAX ? known : kUnknownRank);
    Batch rows;
    CallCounts counts = count_calls(dump);
    RankTable& table = rows.tables.rank;
    Row row = table.add();
    table.rank.set(row, rank);
    table.calls.set(row, counts.calls);
    table.lost_calls.set(row, counts.lost);
    reduce_calls(dump, rank, rows);
    TraceBuilder builder(dump.origin());
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

}  // namespace

bool RankCalls::any() const {
    return std::any_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.second.dump; });
}

RankCalls RankCalls::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    if (trace.tables().rank.rows > 0 || !is_flight_dump(trace)) return CallReader(trace).read();
    auto dump = std::make_shared<const Trace>(reduced(trace));
    RankCalls calls = CallReader(*dump).read();
    calls.of_one_dump = std::move(dump);
    return calls;
}

}  // namespace gpuprof::ranks
