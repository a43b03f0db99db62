#include "ranks/reduce/rank_work.h"

#include <algorithm>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

RankWork::RankWork(const Job& job, const JobTimes& recorded) : job_(job), until_(job.collectives.size()) {
    for (std::uint32_t i = 0; i < until_.size(); ++i) {
        std::uint32_t from = recorded.follows[i];
        if (from != kNone && from < i) {
            until_[i] = {until_[from].since,
                         until_[from].done + job.collectives[i].overlapped_compute + recorded.own[i]};
            continue;
        }
        bool begun = i > 0 && recorded.follows[i - 1] == kNone &&
                     job.collectives[i - 1].rank == job.collectives[i].rank &&
                     job.collectives[i - 1].step == job.collectives[i].step;
        until_[i] = {begun ? until_[i - 1].since : i, recorded.own[i]};
    }
}

std::optional<DurNs> RankWork::between(std::uint32_t from, std::uint32_t collective) const {
    if (from == kNone) {
        bool begun = job_.collectives[until_[collective].since].step == job_.collectives[collective].step;
        return begun ? std::optional(until_[collective].done) : std::nullopt;
    }
    if (until_[from].since != until_[collective].since) return std::nullopt;
    return std::max<DurNs>(until_[collective].done - until_[from].done, 0);
}

}  // namespace gpuprof::ranks
