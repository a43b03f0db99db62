// Job from the tables of summaries.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "core/base/text/rank_list.h"
#include "core/schema/losses.h"
#include "ranks/job/hosts.h"
#include "ranks/job/job.h"
#include "ranks/reduce/batch_rows.h"
#include "ranks/reduce/group_id.h"

namespace gpuprof::inline ranks {
namespace {

// Times that fit: differences and sums of a few of them cannot overflow.
constexpr TimeNs kMaxTime = TimeNs{1} << 61;
constexpr DurNs kMaxPart = DurNs{1} << 55;  // more than a year

// A damaged file may hold any number.
bool is_rank(std::optional<std::int32_t> number) { return number && *number >= 0; }

CollectiveKind kind_of(std::string_view name) {
    for (int kind = 0; kind <= static_cast<int>(CollectiveKind::send_recv); ++kind)
        if (to_string(static_cast<CollectiveKind>(kind)) == name) return static_cast<CollectiveKind>(kind);
    return CollectiveKind::unknown;
}

class JobReader {
public:
    explicit JobReader(const Trace& trace)
        : trace_(trace), batches_(trace.tables().rank_collective, trace.tables().rank_transfer) {}

    Job read() && {
        read_ranks();
        read_groups();
        read_collectives();
        read_steps();
        join_clocks(job_);
        if (counts_steps()) align_step_numbers(job_);
        return std::move(job_);
    }

private:
    // Whether steps of some rank have no numbers in their names.
    bool counts_steps() const {
        const LossTable& losses = trace_.tables().loss;
        StringId by_order = trace_.strings().find(spec_of(Loss::steps_by_order).name);
        for (Row row = 0; row < losses.rows; ++row)
            if (by_order != kNoString && losses.kind.value_or(row, kNoString) == by_order) return true;
        return false;
    }

    void read_ranks() {
        const RankTable& table = trace_.tables().rank;
        std::vector<std::pair<std::int32_t, Row>> order;
        for (Row row = 0; row < table.rows; ++row)
            if (is_rank(table.rank.get(row))) order.emplace_back(table.rank[row], row);
        std::sort(order.begin(), order.end());
        std::map<std::string, std::uint32_t, std::less<>> clocks;
        std::size_t whole = 0, cut = 0;
        for (auto [number, row] : order) {
            if (!job_.ranks.empty() && job_.ranks.back().rank == number) continue;
            auto index = static_cast<std::uint32_t>(job_.ranks.size());
            Job::Rank& rank = job_.ranks.emplace_back();
            rank.rank = number;
            rank.row = row;
            std::string_view status = trace_.text(table.status.value_or(row, kNoString));
            rank.stage = stage_of(trace_.text(table.place.value_or(row, kNoString)));
            rank.present = status == "whole" || status == "cut";
            bool host = table.host.has(row);
            std::string name = host ? std::string(trace_.text(table.host[row])) : fmt::format("rank {}", number);
            auto [clock, fresh] = clocks.try_emplace(name, static_cast<std::uint32_t>(job_.clocks.size()));
            if (fresh) job_.clocks.push_back({name, host, {}});
            rank.clock = clock->second;
            job_.clocks[rank.clock].ranks.push_back(index);
            cut += status == "cut";
            whole += status == "whole";
        }
        for (Job::Rank& rank : job_.ranks) {
            rank.excluded = whole > cut && trace_.text(table.status.value_or(rank.row, kNoString)) == "cut";
            rank.present = rank.present && !rank.excluded;
        }
    }

    // Of "dp0 pp1 tp3".
    static std::optional<std::int32_t> stage_of(std::string_view place) {
        std::size_t at = place.find("pp");
        std::int32_t stage = 0;
        if (at == place.npos) return std::nullopt;
        auto [end, failed] = std::from_chars(place.data() + at + 2, place.data() + place.size(), stage);
        return failed == std::errc() ? std::optional(stage) : std::nullopt;
    }

    void read_groups() {
        const RankGroupTable& table = trace_.tables().rank_group;
        std::map<std::uint32_t, std::set<std::int32_t>> members;
        RankLists lists;
        // By rank, so that nothing depends on the order in which parts of a job were joined.
        std::vector<Row> rows(table.rows);
        std::iota(rows.begin(), rows.end(), Row{0});
        std::stable_sort(rows.begin(), rows.end(),
                         [&](Row a, Row b) { return table.rank.value_or(a, -1) < table.rank.value_or(b, -1); });
        for (Row row : rows) {
            if (!table.group_id.has(row)) continue;
            auto [known, fresh] =
                index_of_group_.try_emplace(table.group_id[row], static_cast<std::uint32_t>(job_.groups.size()));
            if (is_rank(table.rank.get(row))) members[known->second].insert(table.rank[row]);
            if (!fresh) continue;
            Job::Group& group = job_.groups.emplace_back();
            group.id = table.group_id[row];
            group.description = trace_.text(table.description.value_or(row, kNoString));
            group.assumed = group.description.starts_with(kAssumedWorld);
            group.several = group.assumed && group.description != kAssumedWorld;
            group.communicator = group.description == kCommunicator;
            group.ranks_text = trace_.text(table.ranks.value_or(row, kNoString));
            if (std::optional<RankList> ranks = lists.parse(group.ranks_text)) group.ranks = std::move(*ranks);
            job_.unusable += lists.full();
            group.size =
                group.ranks.empty() ? table.size.value_or(row, 0) : static_cast<std::int32_t>(group.ranks.size());
            // Without a recorded number of ranks: those that there are.
            if (group.assumed && group.size == 0) group.size = static_cast<std::int32_t>(job_.ranks.size());
        }
        for (const auto& [index, ranks] : members) {
            Job::Group& group = job_.groups[index];
            group.shared = group.size > 0 && ranks.size() > static_cast<std::size_t>(group.size);
            if (!group.communicator || static_cast<std::size_t>(group.size) != ranks.size()) continue;
            group.ranks.assign(ranks.begin(), ranks.end());
            group.ranks_text = format_ranks(group.ranks);
        }
    }

    void read_steps() {
        const RankStepTable& table = trace_.tables().rank_step;
        std::map<std::pair<std::uint32_t, std::int64_t>, Job::RankStep> found;
        std::set<std::int64_t> steps;
        for (Row row = 0; row < table.rows; ++row) {
            std::uint32_t rank = job_.find_rank(table.rank.value_or(row, -1));
            if (rank == kNone || !table.step.has(row) || !usable(table, row)) {
                ++job_.unusable;
                continue;
            }
            if (job_.ranks[rank].excluded) continue;
            Interval window{table.from_time[row], table.to_time[row]};
            auto [known, fresh] =
                found.try_emplace({rank, table.step[row]}, Job::RankStep{rank, table.step[row], window, {}, 0});
            Job::RankStep& to = known->second;
            to.window = {std::min(to.window.start, window.start), std::max(to.window.end, window.end)};
            to.own.compute += part(table.compute_ns, row);
            to.own.copy += part(table.copy_ns, row);
            to.own.input += part(table.input_ns, row);
            to.own.host += part(table.host_ns, row);
            to.own.unknown += part(table.unknown_ns, row);
            to.exposed_comm += part(table.exposed_comm_ns, row);
            steps.insert(table.step[row]);
        }
        for (const auto& [key, step] : found) job_.rank_steps.push_back(step);
        job_.steps.assign(steps.begin(), steps.end());
    }

    template <class Table>
    static bool usable(const Table& table, Row row) {
        return table.from_time.has(row) && table.to_time.has(row) && table.from_time[row] > -kMaxTime &&
               table.to_time[row] < kMaxTime && table.from_time[row] <= table.to_time[row];
    }
    static DurNs part(const Column<std::int64_t>& column, Row row) {
        return std::clamp<std::int64_t>(column.value_or(row, 0), 0, kMaxPart);
    }

    void read_collectives() {
        const RankCollectiveTable& table = trace_.tables().rank_collective;
        std::vector<std::vector<Row>> rows(job_.ranks.size());
        for (Row row = 0; row < table.rows; ++row) {
            std::uint32_t rank = job_.find_rank(table.rank.value_or(row, -1));
            if (rank == kNone || !usable(table, row))
                ++job_.unusable;
            else if (!job_.ranks[rank].excluded)
                rows[rank].push_back(row);
        }
        job_.collectives.reserve(table.rows);
        for (std::uint32_t rank = 0; rank < rows.size(); ++rank) {
            job_.ranks[rank].first = static_cast<std::uint32_t>(job_.collectives.size());
            job_.ranks[rank].collectives = static_cast<std::uint32_t>(rows[rank].size());
            std::map<std::int64_t, std::uint32_t> last_on;  // by stream
            for (Row row : rows[rank]) add(rank, row, last_on);
            find_waits_before(rank, rows[rank]);
            job_.ranks[rank].device = device_of(rows[rank]);
        }
    }

    // No communicator has more ranks than a batch may have transfers.
    void add_transfers(Job::Collective& collective, Row row) {
        const RankCollectiveTable& table = trace_.tables().rank_collective;
        const RankTransferTable& batches = trace_.tables().rank_transfer;
        collective.first_transfer = static_cast<std::uint32_t>(job_.transfers.size());
        std::span<const Row> batch = batches_.of(row);
        if (batch.size() > UINT16_MAX) batch = {};
        for (Row each : batch)
            job_.transfers.push_back(
                named_ends(collective, {batches.src_rank.value_or(each, -1), batches.dst_rank.value_or(each, -1),
                                        batches.bytes.value_or(each, -1)}));
        if (batch.empty())
            job_.transfers.push_back(named_ends(
                collective,
                {table.src_rank.value_or(row, -1), table.dst_rank.value_or(row, -1), table.bytes.value_or(row, -1)}));
        collective.transfers = static_cast<std::uint16_t>(job_.transfers.size() - collective.first_transfer);
    }

    std::optional<std::int32_t> device_of(const std::vector<Row>& collectives) const {
        const Column<std::int32_t>& devices = trace_.tables().rank_collective.device;
        std::int32_t device = collectives.empty() ? -1 : devices.value_or(collectives.front(), -1);
        bool one = std::all_of(collectives.begin(), collectives.end(),
                               [&](Row row) { return devices.value_or(row, -1) == device; });
        return one && device >= 0 ? std::optional(device) : std::nullopt;
    }

    void add(std::uint32_t rank, Row row, std::map<std::int64_t, std::uint32_t>& last_on) {
        const RankCollectiveTable& table = trace_.tables().rank_collective;
        auto index = static_cast<std::uint32_t>(job_.collectives.size());
        Job::Collective& collective = job_.collectives.emplace_back();
        collective.rank = rank;
        collective.step = table.step.value_or(row, -1);
        if (table.group_id.has(row))
            if (auto group = index_of_group_.find(table.group_id[row]); group != index_of_group_.end())
                collective.group = group->second;
        collective.seq = table.seq.get(row);
        StringId kind = table.kind.value_or(row, kNoString);
        auto [known_kind, new_kind] = kinds_.try_emplace(kind);
        if (new_kind) known_kind->second = kind_of(trace_.text(kind));
        collective.kind = known_kind->second;
        collective.bytes = table.bytes.value_or(row, -1);
        collective.span = {table.from_time[row], table.to_time[row]};
        constexpr DurNs kMostOverlapped = std::numeric_limits<std::uint32_t>::max();
        collective.overlapped =
            static_cast<std::uint32_t>(std::min(part(table.overlapped_compute_ns, row), kMostOverlapped));
        if (collective.is_pair()) add_transfers(collective, row);
        if (collective.is_pair() && collective.group != kNone) job_.groups[collective.group].pairs = true;
        auto back_by = [&](const Column<std::int32_t>& rows) {
            std::int64_t back = rows.value_or(row, 0);
            bool known = back > 0 && back <= index - job_.ranks[rank].first;
            return known ? index - static_cast<std::uint32_t>(back) : kNone;
        };
        collective.follows = back_by(table.follows);
        collective.waited_for = back_by(table.waited_for);
        collective.lead = part(table.lead_ns, row);
        collective.lead_input = std::min(part(table.lead_input_ns, row), collective.lead);
        auto [before, none] = last_on.try_emplace(table.stream.value_or(row, -1), index);
        collective.queued = table.queued.value_or(row, 0) != 0;
        bool in_order = table.stream.has(row) || collective.queued;
        if (!none && in_order && job_.collectives[before->second].span.end <= collective.span.start)
            collective.before = before->second;
        before->second = index;
        collective.own = {part(table.compute_ns, row), part(table.copy_ns, row), part(table.input_ns, row),
                          part(table.host_ns, row), part(table.unknown_ns, row)};
    }

    // A row may refer to a later one, if that one ended earlier.
    void find_waits_before(std::uint32_t rank, const std::vector<Row>& rows) {
        const Column<std::int32_t>& back = trace_.tables().rank_collective.wait_before;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::int64_t other = static_cast<std::int64_t>(i) - back.value_or(rows[i], 0);
            if (other == static_cast<std::int64_t>(i) || other < 0 || other >= static_cast<std::int64_t>(rows.size()))
                continue;
            auto index = job_.ranks[rank].first + static_cast<std::uint32_t>(other);
            Job::Collective& collective = job_.collectives[job_.ranks[rank].first + i];
            if (job_.collectives[index].span.end <= collective.span.end) collective.wait_before = index;
        }
    }

    // A send or receive of a communicator names the other end by its number there; nothing if its ranks are unknown.
    Job::Transfer named_ends(const Job::Collective& collective, Job::Transfer ends) const {
        if (collective.group == kNone || !job_.groups[collective.group].communicator) return ends;
        const RankList& ranks = job_.groups[collective.group].ranks;
        bool sends = ends.to_rank >= 0;
        auto other = static_cast<std::size_t>(sends ? ends.to_rank : ends.from_rank);
        std::int32_t own = job_.ranks[collective.rank].rank;
        if (other >= ranks.size() || (ends.from_rank < 0 && !sends)) return {-1, -1, ends.bytes};
        return {sends ? own : ranks[other], sends ? ranks[other] : own, ends.bytes};
    }

    const Trace& trace_;
    Job job_;
    std::unordered_map<std::int64_t, std::uint32_t> index_of_group_;
    std::map<StringId, CollectiveKind> kinds_;  // few
    BatchRows batches_;
};

}  // namespace

Job Job::make(const Facts& facts) { return JobReader(facts.trace()).read(); }

}  // namespace gpuprof::ranks
