#include "ranks/match/call_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/knowledge/collective_name.h"
#include "ranks/reduce/call_text.h"

namespace gpuprof::inline ranks {
namespace {

bool sizes_must_agree(std::string_view name) {
    // With tensors of different sizes, PyTorch gathers by broadcasts out of place, one per rank.
    if (name.starts_with('_') && name.ends_with("_oop")) return false;
    switch (collective_kind(name)) {
        case CollectiveKind::all_reduce:
        case CollectiveKind::all_gather:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce: return true;
        default: return false;
    }
}

// "all_gather of 1,024 Float"; the parts of a coalesced collective joined by " + ".
std::string signature(const std::vector<const RankCall*>& parts) {
    std::string text;
    for (const RankCall* call : parts) {
        text += text.empty() ? "" : " + ";
        text += sizes_must_agree(call->name)
                    ? with_message(*call)
                    : fmt::format("{}{}{}", call->name, call->type.empty() ? "" : " of ", call->type);
    }
    return text;
}

std::string in_place(const RankCall& call) {
    std::string place = called_at(call.stack, PathForm::name);
    return place.empty() ? place : " in " + place;
}

}  // namespace

std::string mismatch_of(const std::vector<const RankCall*>& calls) {
    std::map<std::int32_t, std::vector<const RankCall*>> by_rank;
    for (const RankCall* call : calls) by_rank[call->rank].push_back(call);
    std::map<std::string, RankList> ranks;  // by the call
    for (const auto& [rank, parts] : by_rank) ranks[signature(parts)].push_back(rank);
    if (ranks.size() < 2) return {};
    // Those that differ from most come first.
    std::vector<std::pair<std::string, RankList>> order(ranks.begin(), ranks.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    constexpr std::size_t kMaxListed = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(order.size(), kMaxListed); ++i)
        text += fmt::format("{}{} called {}{}", i == 0 ? "" : ", ", ranks_text(order[i].second), order[i].first,
                            i == 0 ? in_place(*by_rank[order[i].second.front()].front()) : "");
    if (order.size() > kMaxListed) text += fmt::format(", and {} more", order.size() - kMaxListed);
    return text;
}

std::string mismatch_of_pair(const std::vector<const RankCall*>& ends) {
    if (ends.size() != 2) return {};
    const RankCall &send = *ends[0], &receive = *ends[1];
    bool same = send.type == receive.type && elements_of(send) == elements_of(receive);
    return same ? std::string()
                : fmt::format("rank {} called {}, rank {} called {}", send.rank, with_message(send), receive.rank,
                              with_message(receive));
}

}  // namespace gpuprof::ranks
