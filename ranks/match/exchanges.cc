#include "ranks/match/exchanges.h"

#include <algorithm>

namespace gpuprof::inline ranks {

void Exchanges::link(std::uint32_t a, std::uint32_t b) {
    links_.emplace_back(a, b);
    links_.emplace_back(b, a);
}

bool Exchanges::is_complete(std::span<const Link> links) const {
    return links.size() == job_.transfers_of(job_.collectives[links.front().first]).size();
}

void Exchanges::each(const Visit& visit) {
    std::sort(links_.begin(), links_.end());
    auto links_of = [&](std::uint32_t collective) {
        auto [first, last] = std::equal_range(links_.begin(), links_.end(), Link{collective, 0},
                                              [](const Link& a, const Link& b) { return a.first < b.first; });
        return std::span<const Link>(first, last);
    };
    auto has_one_partner = [](std::span<const Link> links) { return links.front().second == links.back().second; };
    std::vector<std::uint32_t> members;
    for (std::size_t begin = 0; begin < links_.size();) {
        std::uint32_t collective = links_[begin].first, other = links_[begin].second;
        std::span<const Link> links = links_of(collective), others = links_of(other);
        begin += links.size();
        bool pair = has_one_partner(links) && has_one_partner(others);
        if (pair && other < collective) continue;
        members = {collective};
        for (const Link& link : links)
            if (members.size() == 1 || members.back() != link.second) members.push_back(link.second);
        visit(members, is_complete(links) && (!pair || is_complete(others)), pair);
    }
}

}  // namespace gpuprof::ranks
