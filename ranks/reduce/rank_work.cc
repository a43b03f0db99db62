#include "ranks/reduce/rank_work.h"

#include <algorithm>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

RankWork::RankWork(const Job& job, const JobTimes& recorded) : job_(job), until_(job.syncs.size()) {
    for (std::uint32_t i = 0; i < until_.size(); ++i) {
        std::uint32_t from = recorded.follows[i];
        if (from != kNone && from < i) {
            until_[i] = {until_[from].since, until_[from].done + job.syncs[i].beside + recorded.own[i]};
            continue;
        }
        bool begun = i > 0 && recorded.follows[i - 1] == kNone && job.syncs[i - 1].rank == job.syncs[i].rank &&
                     job.syncs[i - 1].step == job.syncs[i].step;
        until_[i] = {begun ? until_[i - 1].since : i, recorded.own[i]};
    }
}

std::optional<DurNs> RankWork::between(std::uint32_t from, std::uint32_t sync) const {
    if (from == kNone) {
        bool begun = job_.syncs[until_[sync].since].step == job_.syncs[sync].step;
        return begun ? std::optional(until_[sync].done) : std::nullopt;
    }
    if (until_[from].since != until_[sync].since) return std::nullopt;
    return std::max<DurNs>(until_[sync].done - until_[from].done, 0);
}

}  // namespace gpuprof::ranks
