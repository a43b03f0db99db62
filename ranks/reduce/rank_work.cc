#include "ranks/reduce/rank_work.h"

#include <algorithm>
#include <numeric>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

RankWork::RankWork(const Job& job, const JobTimes& recorded)
    : job_(job), arrival_(job.collectives.size()), wait_(job.collectives.size()) {
    std::vector<std::uint32_t> by_end(job.collectives.size());
    std::iota(by_end.begin(), by_end.end(), 0U);
    for (const Job::Rank& rank : job.ranks)
        std::stable_sort(by_end.begin() + rank.first, by_end.begin() + rank.first + rank.collectives,
                         [&](std::uint32_t a, std::uint32_t b) {
                             return job.collectives[a].span.end < job.collectives[b].span.end;
                         });
    // The first collective of a rank's step that follows nothing stands for the beginning of that step.
    std::vector<std::uint32_t> first(job.collectives.size());
    for (std::uint32_t i = 0; i < first.size(); ++i) {
        const Job::Collective& own = job.collectives[i];
        bool same = i > 0 && job.collectives[i - 1].rank == own.rank && job.collectives[i - 1].step == own.step;
        first[i] = same && recorded.follows[i - 1] == kNone ? first[i - 1] : i;
    }
    auto after = [&](std::uint32_t from, std::uint32_t i, DurNs done) {
        if (from != kNone && wait_[from].since != kNone)
            return Until{wait_[from].since, job.collectives[i].step, wait_[from].done + done};
        if (from != kNone) return Until{};
        return Until{first[i], job.collectives[i].step, done};
    };
    for (std::uint32_t i : by_end) {
        bool none = recorded.wait_before[i] == kNone && recorded.follows[i] != kNone;
        if (!none) wait_[i] = after(recorded.wait_before[i], i, recorded.overlapped[i]);
    }
    for (std::uint32_t i = 0; i < arrival_.size(); ++i) {
        arrival_[i] = after(recorded.follows[i], i, recorded.own[i]);
    }
}

std::optional<DurNs> RankWork::between(std::uint32_t from, const Until& until) const {
    if (until.since == kNone) return std::nullopt;
    if (from == kNone)
        return job_.collectives[until.since].step == until.step ? std::optional(until.done) : std::nullopt;
    if (wait_[from].since != until.since) return std::nullopt;
    return std::max<DurNs>(until.done - wait_[from].done, 0);
}

}  // namespace gpuprof::ranks
