#include "ranks/reduce/call_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

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

}  // namespace gpuprof::ranks
