#include "ranks/reduce/reduce_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/schema/losses.h"
#include "ranks/reduce/group_id.h"
#include "ranks/reduce/rank_rows.h"

namespace gpuprof::inline ranks {
namespace {

class CollectiveReduction {
public:
    CollectiveReduction(const Trace& trace, std::int32_t rank, std::int64_t world, const RankSteps& steps,
                        const LargeVector<RankCollective>& points, Batch& into)
        : trace_(trace),
          rank_(rank),
          world_(world),
          steps_(steps),
          collectives_(points),
          into_(into),
          rows_(trace, rank, into),
          streams_(communicators(points)) {}

    void write() {
        RankCollectiveTable& table = into_.tables.rank_collective;
        const CollectiveTable& records = trace_.tables().collective;
        for (const RankCollective& point : collectives_) {
            Row row = table.add();
            table.rank.set(row, rank_);
            if (point.device >= 0) table.device.set(row, point.device);
            if (point.step < steps_.steps().size()) table.step.set(row, steps_.steps()[point.step].number);
            table.kind.set(row, into_.intern(to_string(point.message.kind)));
            if (point.message.bytes) table.bytes.set(row, *point.message.bytes);
            if (point.stream >= 0) table.stream.set(row, point.stream);
            table.from_time.set(row, point.span.start);
            table.to_time.set(row, point.span.end);
            std::optional<std::int64_t> group = group_of(point);
            rows_.put(table.group_id, row, group);
            if (point.record != kNoRow) {
                bool numbered = by_communicator_.contains(group.value_or(-1));
                if (records.seq.has(point.record)) table.seq.set(row, records.seq[point.record]);
                bool transfer = point.message.kind == CollectiveKind::send_recv;
                if (point.batch.empty())
                    put_ends(table, row, point.record, transfer && !numbered);
                else
                    write_batch(row, point.batch, !numbered);
            }
            if (!group) into_.lose(loss_of(point.undescribed), fmt::format("rank {}", rank_));
            table.queued.set(row, point.queued ? 1 : 0);
            if (point.waited_for != kFollowsNothing) {
                table.waited_for.set(row, static_cast<std::int32_t>(point.waited_for));
                table.lead_ns.set(row, point.lead);
                table.lead_input_ns.set(row, point.lead_input);
            }
            if (point.follows != kFollowsNothing) {
                table.follows.set(row, static_cast<std::int32_t>(point.follows));
            }
            if (point.wait_before != 0) table.wait_before.set(row, point.wait_before);
            table.overlapped_compute_ns.set(row, point.overlapped);
            table.compute_ns.set(row, point.own.compute);
            table.copy_ns.set(row, point.own.copy);
            table.input_ns.set(row, point.own.input);
            table.host_ns.set(row, point.own.host);
            table.unknown_ns.set(row, point.own.unknown);
        }
    }

private:
    static Loss loss_of(Undescribed why) {
        switch (why) {
            case Undescribed::in_graph: return Loss::graph_collective;
            case Undescribed::several_transfers: return Loss::several_transfers;
            case Undescribed::no:
            case Undescribed::no_record: break;
        }
        return Loss::undescribed_collective;
    }

    void write_batch(Row collective, const std::vector<Row>& calls, bool by_job) {
        into_.tables.rank_collective.transfers.set(collective, static_cast<std::int32_t>(calls.size()));
        RankTransferTable& table = into_.tables.rank_transfer;
        for (Row call : calls) {
            Row row = table.add();
            table.rank.set(row, rank_);
            put_ends(table, row, call, by_job);
            rows_.put(table.bytes, row, message_of(trace_, call).bytes);
        }
    }

    // A send names whom it sends to, a receive whom it receives from. `by_job`: the other end is this rank, by its number in
    // the job.
    template <class Table>
    void put_ends(Table& table, Row row, Row record, bool by_job) {
        const CollectiveTable& records = trace_.tables().collective;
        std::optional<std::int32_t> from = records.src_rank.get(record), to = records.dst_rank.get(record);
        if (by_job && to && !from) from = rank_;
        if (by_job && from && !to) to = rank_;
        rows_.put(table.src_rank, row, from);
        rows_.put(table.dst_rank, row, to);
    }

    // The streams of collectives, ascending, if nothing describes any of them, and they are of one device; else nothing. A
    // framework gives each communicator a stream of its own.
    static std::vector<std::int64_t> communicators(const LargeVector<RankCollective>& points) {
        std::set<std::int64_t> streams;
        for (const RankCollective& point : points) {
            if (point.undescribed != Undescribed::no_record || point.stream < 0 ||
                point.device != points.front().device)
                return {};
            if (may_be_of_all(point)) streams.insert(point.stream);
        }
        return {streams.begin(), streams.end()};
    }
    static bool may_be_of_all(const RankCollective& point) {
        return point.message.kind != CollectiveKind::unknown && point.message.kind != CollectiveKind::send_recv;
    }

    // The description of a group of all ranks, if that is assumed for this collective.
    std::optional<std::string> assumed_group(const RankCollective& point) const {
        if (world_ == 1) return std::nullopt;
        bool of_host = point.record != kNoRow && !trace_.tables().collective.correlation.has(point.record);
        if (of_host) return std::string(kAssumedWorld);
        // No record reaches a kernel inside a graph. Its kind and place in the step tell which it is, if its ends agree by one
        // clock; not where the job is known to have smaller groups.
        if (point.undescribed == Undescribed::in_graph && may_be_of_all(point) && !has_smaller_groups_)
            return fmt::format("{}, in CUDA graphs", kAssumedWorld);
        auto stream = std::find(streams_.begin(), streams_.end(), point.stream);
        if (point.record != kNoRow || stream == streams_.end() || !may_be_of_all(point)) return std::nullopt;
        if (streams_.size() == 1) return std::string(kAssumedWorld);
        return fmt::format("{}, stream {} of {}", kAssumedWorld, stream - streams_.begin() + 1, streams_.size());
    }

    static bool names_smaller_groups(const CollectiveTable& records, std::int64_t world) {
        for (Row row = 0; row < records.rows; ++row)
            if (records.group_size.value_or(row, world) < world) return true;
        return false;
    }

    std::optional<std::int64_t> group_of(const RankCollective& point) {
        const CollectiveTable& records = trace_.tables().collective;
        std::optional<GroupKey> key;
        if (point.record != kNoRow) key = group_key(trace_, point.record);
        std::optional<std::string> assumed;
        if (!key && (assumed = assumed_group(point))) key = assumed_world(*assumed, world_);
        if (!key) return std::nullopt;
        std::int64_t id = key->id();
        if (!groups_.insert(id).second) return id;
        RankGroupTable& table = into_.tables.rank_group;
        Row row = rows_.add_group(id, key->size, point.record);
        if (assumed) {
            table.description.set(row, into_.intern(*assumed));
        } else if (key->of_communicator) {
            by_communicator_.insert(id);
            rows_.put(table.name, row, records.communicator.get(point.record));
            table.description.set(row, into_.intern(kCommunicator));
        } else {
            rows_.put(table.name, row, records.group.get(point.record));
            rows_.put(table.description, row, records.group_description.get(point.record));
        }
        return id;
    }

    const Trace& trace_;
    std::int32_t rank_;
    std::int64_t world_;
    const RankSteps& steps_;
    const LargeVector<RankCollective>& collectives_;
    Batch& into_;
    RankRows rows_;
    std::vector<std::int64_t> streams_;  // of collectives whose groups are assumed
    const bool has_smaller_groups_ = names_smaller_groups(trace_.tables().collective, world_);
    std::set<std::int64_t> groups_, by_communicator_;
};

}  // namespace

void reduce_collectives(const Trace& trace, std::int32_t rank, std::int64_t world, const RankSteps& steps,
                        const LargeVector<RankCollective>& points, Batch& into) {
    CollectiveReduction(trace, rank, world, steps, points, into).write();
}

}  // namespace gpuprof::ranks
