// Steps without numbers in their names are counted from the start of each recording. Idle replicas of a server do not advance their
// profilers, so recordings of one job may begin at different steps. Where ranks share a clock, the ends of their collectives say which
// steps are the same.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ranks/job/job.h"
#include "ranks/match/match_order.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr double kOneShift = 0.8;             // of the ends that agree must say the same
constexpr std::size_t kMostNumbered = 4'000;  // of a rank; more only take time

struct NumberedEnd {
    TimeNs time;
    std::uint32_t group;
    std::int64_t step;
};

std::vector<NumberedEnd> numbered_ends(const Job& job, const Job::Rank& rank) {
    std::vector<NumberedEnd> ends;
    for (std::uint32_t i = rank.first; i < rank.first + rank.collectives && ends.size() < kMostNumbered; ++i) {
        const Job::Collective& each = job.collectives[i];
        if (ends_together(each.kind) && !each.is_pair() && each.group != kNone && each.step >= 0)
            ends.push_back({each.span.end, each.group, each.step});
    }
    std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    return ends;
}

// By how much the numbers of `b` are behind those of `a`; 0 if their ends do not agree.
std::int64_t shift_between(const std::vector<NumberedEnd>& a, const std::vector<NumberedEnd>& b) {
    std::map<std::int64_t, std::size_t> votes;
    std::size_t all = 0;
    auto near = a.begin();
    for (const NumberedEnd& end : b) {
        while (near != a.end() && near->time < end.time - kSameEnd) ++near;
        for (auto other = near; other != a.end() && other->time <= end.time + kSameEnd; ++other) {
            if (other->group != end.group) continue;
            ++votes[other->step - end.step];
            ++all;
        }
    }
    auto most = std::max_element(votes.begin(), votes.end(), [](auto& x, auto& y) { return x.second < y.second; });
    bool sure = all >= kFewestEnds && static_cast<double>(most->second) >= kOneShift * static_cast<double>(all);
    return sure ? most->first : 0;
}

}  // namespace

void align_step_numbers(Job& job) {
    std::vector<std::int64_t> shifts(job.ranks.size(), 0);
    bool any = false;
    for (const Job::Clock& clock : job.clocks) {
        std::vector<NumberedEnd> first;
        for (std::uint32_t rank : clock.ranks) {
            std::vector<NumberedEnd> ends = numbered_ends(job, job.ranks[rank]);
            if (first.empty())
                first = std::move(ends);
            else
                shifts[rank] = shift_between(first, ends);
            any = any || shifts[rank] != 0;
        }
    }
    if (!any) return;
    // None below 0, which is the number of no step.
    std::int64_t least = *std::min_element(shifts.begin(), shifts.end());
    for (Job::Collective& each : job.collectives)
        if (each.step >= 0) each.step += shifts[each.rank] - least;
    std::set<std::int64_t> steps;
    for (Job::RankStep& each : job.rank_steps) steps.insert(each.step += shifts[each.rank] - least);
    job.steps.assign(steps.begin(), steps.end());
}

}  // namespace gpuprof::ranks
