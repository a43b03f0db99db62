#include "ranks/reduce/call_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "analyze/knowledge/collective_name.h"
#include "core/base/ids.h"
#include "core/base/text/python_frame.h"

namespace gpuprof::inline ranks {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::string ranks_text(const RankList& ranks) {
    if (ranks.size() == 1) return ranks[0] == kUnknownRank ? "this rank" : fmt::format("rank {}", ranks[0]);
    return fmt::format("ranks {}", format_ranks(ranks));
}

std::optional<std::int64_t> elements_of(const RankCall& call) {
    if (!call.in_elements || !call.out_elements) return call.in_elements ? call.in_elements : call.out_elements;
    return std::max(*call.in_elements, *call.out_elements);
}

std::string with_message(const RankCall& call) {
    std::optional<std::int64_t> elements = elements_of(call);
    std::string text(call.name);
    if (elements || !call.type.empty()) text += " of";
    if (elements) text += fmt::format(" {}", *elements);
    if (!call.type.empty()) text += fmt::format(" {}", call.type);
    return text;
}

std::string name_with_ends(const RankCall& call) {
    if (!call.is_pair() || call.from < 0) return std::string(call.name);
    return call.name == "send" ? fmt::format("send {}->{}", call.from, call.to)
                               : fmt::format("recv {}<-{}", call.to, call.from);
}

RankCall other_end(RankCall call) {
    if (call.is_pair()) call.name = call.name == "send" ? "recv" : "send";
    return call;
}

std::string collective_text(const RankCalls& calls, const RankCall& call) {
    std::string text = name_with_ends(call);
    if (!call.is_pair() && call.seq >= 0) text += fmt::format(" {}", call.seq);
    auto group = calls.groups.find(call.group);
    if (group != calls.groups.end() && !group->second.label.empty())
        text += fmt::format(" of group {}", group->second.label);
    return text;
}

std::string called_at(std::string_view stack, PathForm form) {
    std::string_view innermost, own;
    while (!stack.empty()) {
        std::size_t end = std::min(stack.find(';'), stack.size());
        std::string_view frame = stack.substr(0, end);
        std::string_view file = parse_frame(frame).file;
        bool torch = file.find("/torch/") != file.npos || file.starts_with("torch/") || file.empty();
        if (!torch) own = frame;
        innermost = frame;
        stack.remove_prefix(std::min(end + 1, stack.size()));
    }
    PythonFrame frame = parse_frame(own.empty() ? innermost : own);
    if (frame.function.empty()) return {};
    if (form == PathForm::name) frame.file = file_name(frame.file);
    return to_text(frame);
}

std::string time_text(TimeNs time) {
    std::time_t seconds = time / kSecond;
    std::tm parts{};
    if (gmtime_r(&seconds, &parts) == nullptr) return {};
    return fmt::format("{:%F %T} UTC", parts);
}

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
