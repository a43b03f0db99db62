// Summaries of small jobs, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/trace_builder.h"

namespace gpuprof {

class JobRows {
public:
    void rank(std::int32_t number, std::string_view host = {}) {
        RankTable& table = batch_.tables.rank;
        Row row = table.add();
        table.rank.set(row, number);
        table.status.set(row, batch_.intern("whole"));
        if (!host.empty()) table.host.set(row, batch_.intern(host));
    }
    void group(std::int32_t rank, std::int64_t id, std::string_view ranks) {
        RankGroupTable& table = batch_.tables.rank_group;
        Row row = table.add();
        table.rank.set(row, rank);
        table.group_id.set(row, id);
        table.ranks.set(row, batch_.intern(ranks));
    }
    void step(std::int32_t rank, std::int64_t number, TimeNs from, TimeNs to) {
        RankStepTable& table = batch_.tables.rank_step;
        Row row = table.add();
        table.rank.set(row, rank);
        table.step.set(row, number);
        table.from_time.set(row, from);
        table.to_time.set(row, to);
        if (to > from) table.compute_ns.set(row, to - from);
    }
    void collective(std::int32_t rank, std::int64_t seq, TimeNs from, TimeNs to, std::int32_t follows,
                    std::string_view kind = "all_reduce", std::int64_t group = 7, std::int64_t bytes = -1) {
        RankCollectiveTable& table = batch_.tables.rank_collective;
        Row row = table.add();
        if (bytes >= 0) table.bytes.set(row, bytes);
        table.rank.set(row, rank);
        table.step.set(row, seq);
        table.group_id.set(row, group);
        table.seq.set(row, seq);
        table.kind.set(row, batch_.intern(kind));
        table.from_time.set(row, from);
        table.to_time.set(row, to);
        if (follows > 0) table.follows.set(row, follows);
        table.compute_ns.set(row, follows > 0 ? 1'000'000 : 0);
    }
    struct Transfer {
        std::int32_t from, to;
        std::int64_t bytes = 1024;
    };
    // Several sends and receives of one kernel, in a group of which nothing is numbered.
    void batch(std::int32_t rank, std::int64_t step, TimeNs from, TimeNs to, std::int32_t follows,
               const std::vector<Transfer>& transfers, std::int64_t group = 7) {
        collective(rank, step, from, to, follows, "send_recv", group);
        RankCollectiveTable& table = batch_.tables.rank_collective;
        table.transfers.set(static_cast<Row>(table.rows - 1), static_cast<std::int32_t>(transfers.size()));
        for (const Transfer& each : transfers) {
            RankTransferTable& into = batch_.tables.rank_transfer;
            Row row = into.add();
            into.rank.set(row, rank);
            into.src_rank.set(row, each.from);
            into.dst_rank.set(row, each.to);
            into.bytes.set(row, each.bytes);
        }
    }
    Trace trace() {
        TraceBuilder builder({"job", "ranks", {}});
        batch_.tables.close();
        builder.append(std::move(batch_));
        return std::move(builder).finish();
    }

private:
    Batch batch_;
};

// Ranks that each compute for 1 ms and then reduce; `late` needs `more` longer.
inline Trace even_job(std::int32_t ranks, std::int32_t late, DurNs more, std::int64_t steps) {
    JobRows rows;
    DurNs step = 1'000'000 + more + 100'000;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        rows.rank(rank);
        rows.group(rank, 7, "0-" + std::to_string(ranks - 1));
        for (std::int64_t n = 0; n < steps; ++n) {
            TimeNs begin = n * step;
            rows.step(rank, n, begin, begin + step);
            rows.collective(rank, n, begin + 1'000'000 + (rank == late ? more : 0), begin + step, n > 0 ? 1 : 0);
        }
    }
    return rows.trace();
}

}  // namespace gpuprof
