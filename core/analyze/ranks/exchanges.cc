#include "core/analyze/ranks/exchanges.h"

#include <algorithm>

namespace gpuprof {

void Exchanges::link(std::uint32_t a, std::uint32_t b) {
    links_.emplace_back(a, b);
    links_.emplace_back(b, a);
}

void Exchanges::add_to(MatchedJob& matched) {
    std::sort(links_.begin(), links_.end());
    // The links of a sync, of which several may be with one other.
    struct Partners {
        std::uint32_t sync;
        std::vector<std::uint32_t> others;
        bool complete;  // each of its transfers was found on the other rank too
    };
    std::vector<Partners> all;
    for (std::size_t begin = 0, end = 0; begin < links_.size(); begin = end) {
        Partners& of = all.emplace_back();
        of.sync = links_[begin].first;
        for (; end < links_.size() && links_[end].first == of.sync; ++end)
            if (of.others.empty() || of.others.back() != links_[end].second) of.others.push_back(links_[end].second);
        of.complete = end - begin == job_.transfers_of(job_.syncs[of.sync]).size();
    }
    auto find = [&](std::uint32_t sync) {
        return std::lower_bound(all.begin(), all.end(), sync,
                                [](const Partners& each, std::uint32_t wanted) { return each.sync < wanted; });
    };
    for (const Partners& each : all) {
        auto other = find(each.others.front());
        bool pair = each.others.size() == 1 && other->others.size() == 1;
        if (pair && other->sync < each.sync) continue;
        Instance instance{static_cast<std::uint32_t>(matched.members.size()),
                          static_cast<std::uint32_t>(1 + each.others.size()),
                          job_.syncs[each.sync].group,
                          MatchRule::order,
                          each.complete && (!pair || other->complete),
                          !pair};
        matched.members.push_back(each.sync);
        matched.members.insert(matched.members.end(), each.others.begin(), each.others.end());
        for (std::uint32_t sync : matched.owners(instance))
            matched.instance_of[sync] = static_cast<std::uint32_t>(matched.instances.size());
        matched.instances.push_back(instance);
    }
}

}  // namespace gpuprof
