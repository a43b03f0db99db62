// A job of any number of ranks, as the summaries of its recordings: tensor-parallel groups of the 8 ranks of a host,
// data-parallel groups over all hosts, clocks that are off by milliseconds, and, if wanted, one rank that computes a fifth
// longer. The same job in every run; what it would be without the slow rank is the same but for that.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/rank_list.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof {

// xorshift: the same job in every run.
class Noise {
public:
    std::int64_t below(std::int64_t limit) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(limit));
    }

private:
    std::uint64_t state_ = 88172645463325252;
};

// Ranks of which each gets a summary of its own; those of others are not kept.
struct RankPart {
    std::int32_t first, count;
};

class LargeJob {
public:
    static constexpr std::int32_t kOfHost = 8;
    static constexpr DurNs kWork = 1'000'000, kTransfer = 200'000;

    // `collectives`: of a rank in a step. `slow`: the slow rank; negative: none. Without a part, all ranks are one summary.
    LargeJob(std::int32_t ranks, std::int32_t steps, std::int32_t collectives, std::int32_t slow,
             RankPart part = {0, 0})
        : ranks_(ranks), steps_(steps), collectives_(collectives), slow_(slow), part_(part) {
        batches_.resize(static_cast<std::size_t>(std::max(part.count, 1)));
        for (std::int32_t host = 0; host < (ranks + kOfHost - 1) / kOfHost; ++host)
            clocks_.push_back(noise_.below(10'000'000) - 5'000'000);
        add_ranks();
        now_.assign(static_cast<std::size_t>(ranks), kBegin);
        for (std::int32_t step = 0; step < steps; ++step) add_step(step);
    }
    // Mean length of a step.
    double step_ns() const {
        return static_cast<double>(*std::max_element(now_.begin(), now_.end()) - kBegin) / steps_;
    }
    // The summary of all ranks, or of this one of the part.
    Trace finish(std::int32_t of_part = 0) {
        Batch& batch = batches_[static_cast<std::size_t>(of_part)];
        batch.tables.close();
        TraceBuilder builder({"job", "bench", {}});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }

private:
    static constexpr TimeNs kBegin = 1'000'000'000;

    struct Group {
        std::int64_t id;
        std::vector<std::int32_t> ranks;
    };

    // Where the rows of a rank go; null: nowhere.
    Batch* batch_of(std::int32_t rank) {
        if (part_.count == 0) return &batches_.front();
        bool kept = rank >= part_.first && rank < part_.first + part_.count;
        return kept ? &batches_[static_cast<std::size_t>(rank - part_.first)] : nullptr;
    }

    void add_ranks() {
        for (std::int32_t rank = 0; rank < ranks_; ++rank) {
            Batch* batch = batch_of(rank);
            if (batch == nullptr) continue;
            RankTable& table = batch->tables.rank;
            Row row = table.add();
            table.rank.set(row, rank);
            table.world_size.set(row, ranks_);
            table.host.set(row, batch->intern(fmt::format("n{}", rank / kOfHost)));
            table.status.set(row, batch->intern("whole"));
        }
        for (std::int32_t first = 0; first < ranks_; first += kOfHost) add_group(tensor_, "tp", first, 1, kOfHost);
        for (std::int32_t first = 0; first < std::min(kOfHost, ranks_); ++first)
            add_group(data_, "dp", first, kOfHost, ranks_);
    }
    void add_group(std::vector<Group>& groups, std::string_view name, std::int32_t first, std::int32_t stride,
                   std::int32_t length) {
        RankList ranks;
        for (std::int32_t rank = first; rank < std::min(first + length, ranks_); rank += stride) ranks.push_back(rank);
        auto id = static_cast<std::int64_t>(hash_ranks(ranks) >> 1);
        std::string text = format_ranks(ranks);
        for (std::int32_t rank : ranks) {
            Batch* batch = batch_of(rank);
            if (batch == nullptr) continue;
            RankGroupTable& table = batch->tables.rank_group;
            Row row = table.add();
            table.rank.set(row, rank);
            table.group_id.set(row, id);
            table.description.set(row, batch->intern(name));
            table.size.set(row, static_cast<std::int32_t>(ranks.size()));
            table.ranks.set(row, batch->intern(text));
        }
        groups.push_back({id, std::move(ranks)});
    }

    void add_step(std::int32_t step) {
        std::vector<TimeNs> begun = now_;
        for (std::int32_t i = 0; i < collectives_; ++i) {
            bool last = i + 1 == collectives_;
            for (const Group& group : last ? data_ : tensor_) add_collective(group, step, i, last);
        }
        for (std::int32_t rank = 0; rank < ranks_; ++rank) {
            Batch* batch = batch_of(rank);
            if (batch == nullptr) continue;
            RankStepTable& table = batch->tables.rank_step;
            Row row = table.add();
            auto at = static_cast<std::size_t>(rank);
            table.rank.set(row, rank);
            table.step.set(row, step);
            table.from_time.set(row, begun[at] + clock_of(rank));
            table.to_time.set(row, now_[at] + clock_of(rank));
            table.compute_ns.set(row, work_of(rank) * collectives_);
        }
    }
    void add_collective(const Group& group, std::int32_t step, std::int32_t place, bool last) {
        std::vector<DurNs> work;
        TimeNs arrived = 0;
        for (std::int32_t rank : group.ranks) {
            work.push_back(work_of(rank) + noise_.below(20'000));
            arrived = std::max(arrived, now_[static_cast<std::size_t>(rank)] + work.back());
        }
        for (std::size_t k = 0; k < group.ranks.size(); ++k) {
            std::int32_t rank = group.ranks[k];
            TimeNs& now = now_[static_cast<std::size_t>(rank)];
            TimeNs began = now + work[k];
            now = arrived + kTransfer + noise_.below(5'000);
            Batch* batch = batch_of(rank);
            if (batch == nullptr) continue;
            RankCollectiveTable& table = batch->tables.rank_collective;
            Row row = table.add();
            table.rank.set(row, rank);
            table.device.set(row, rank % kOfHost);
            table.step.set(row, step);
            table.group_id.set(row, group.id);
            table.seq.set(row, last ? step : std::int64_t{step} * collectives_ + place);
            table.kind.set(row, batch->intern("all_reduce"));
            table.bytes.set(row, std::int64_t{1} << 20);
            table.stream.set(row, last ? 20 : 16);
            table.from_time.set(row, began + clock_of(rank));
            table.compute_ns.set(row, work[k]);
            bool first = step == 0 && place == 0;
            if (!first) table.follows.set(row, 1);
            if (!first) table.wait_before.set(row, 1);
            table.overlapped_compute_ns.set(row, work[k]);
            table.to_time.set(row, now + clock_of(rank));
        }
    }

    DurNs work_of(std::int32_t rank) const { return rank == slow_ ? kWork * 6 / 5 : kWork; }
    TimeNs clock_of(std::int32_t rank) const { return clocks_[static_cast<std::size_t>(rank / kOfHost)]; }

    std::int32_t ranks_, steps_, collectives_, slow_;
    RankPart part_;
    Noise noise_;
    std::vector<Batch> batches_;
    std::vector<Group> tensor_, data_;
    std::vector<TimeNs> clocks_, now_;
};

}  // namespace gpuprof
