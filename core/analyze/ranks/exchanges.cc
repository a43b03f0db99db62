#include "core/analyze/ranks/exchanges.h"

#include <algorithm>

namespace gpuprof {

void Exchanges::link(std::uint32_t a, std::uint32_t b) {
    links_.emplace_back(a, b);
    links_.emplace_back(b, a);
}

std::vector<Exchanges::Members> Exchanges::find() {
    std::sort(links_.begin(), links_.end());
    std::vector<Members> all;
    for (std::size_t begin = 0, end = 0; begin < links_.size(); begin = end) {
        Members& members = all.emplace_back();
        std::uint32_t sync = links_[begin].first;
        members.syncs.push_back(sync);
        for (; end < links_.size() && links_[end].first == sync; ++end)
            if (members.syncs.size() == 1 || members.syncs.back() != links_[end].second)
                members.syncs.push_back(links_[end].second);
        members.complete = end - begin == job_.transfers_of(job_.syncs[sync]).size();
    }
    auto other_of = [&](const Members& members) {
        return std::lower_bound(all.begin(), all.end(), members.syncs[1],
                                [](const Members& each, std::uint32_t sync) { return each.syncs.front() < sync; });
    };
    std::vector<Members> found;
    for (const Members& members : all) {
        auto other = other_of(members);
        bool pair = members.syncs.size() == 2 && other->syncs.size() == 2;
        if (pair && other->syncs.front() < members.syncs.front()) continue;
        found.push_back(members);
        found.back().pair = pair;
        if (pair) found.back().complete &= other->complete;
    }
    return found;
}

}  // namespace gpuprof
