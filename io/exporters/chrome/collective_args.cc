// ChromeEvents' collectives: arguments of the kernel, operator or range that a collective was recorded with. As in
// Kineto, a long list of ranks is cut; the spacing that completes it is added, and a list without one is written whole.
#include "core/base/text/rank_list.h"
#include "io/exporters/chrome/events.h"

namespace gpuprof::inline exporters {
namespace {

constexpr std::size_t kMaxListed = 30;  // kTruncateLength of torch/csrc/profiler/util.cpp

bool evenly_spaced(const RankList& ranks) {
    for (std::size_t i = 2; i < ranks.size(); ++i)
        if (ranks[i] - ranks[i - 1] != ranks[1] - ranks[0]) return false;
    return true;
}

std::string list_of(const RankList& ranks, bool cut) {
    std::string list = "[";
    for (std::size_t i = 0; i < (cut ? kMaxListed - 1 : ranks.size()); ++i)
        list += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (cut) list += ", ..., " + std::to_string(ranks.back());
    return list + "]";
}

}  // namespace

void ChromeEvents::collective_args(const std::unordered_map<std::int64_t, Row>& known, const Column<std::int64_t>& id,
                                   Row row) {
    auto found = id.has(row) ? known.find(id[row]) : known.end();
    if (found == known.end()) return;
    const CollectiveTable& collective = tables_.collective;
    Row at = found->second;
    text("Collective name", collective.name, at);
    text("dtype", collective.type, at);
    number("In msg nelems", collective.in_elements, at);
    number("Out msg nelems", collective.out_elements, at);
    text("In split size", collective.in_splits, at);
    text("Out split size", collective.out_splits, at);
    number("Group size", collective.group_size, at);
    text("Process Group Name", collective.group, at);
    text("Process Group Description", collective.group_description, at);
    if (collective.ranks.has(at)) rank_args(collective.ranks[at]);
    number("Src Rank", collective.src_rank, at);
    number("Dst Rank", collective.dst_rank, at);
    number("Seq", collective.seq, at);
    if (collective.instance.has(at)) {
        json_.key("Comms Id");
        json_.raw(std::to_string(static_cast<std::uint64_t>(collective.instance[at])));
    }
    number("Is asynchronized op", collective.is_async, at);
}

void ChromeEvents::rank_args(StringId text) {
    auto [known, added] = rank_lists_.try_emplace(text);
    RankArgs& args = known->second;
    if (added)
        if (std::optional<RankList> ranks = parse_ranks(trace_.text(text))) {
            bool cut = ranks->size() > kMaxListed && evenly_spaced(*ranks);
            args.list = list_of(*ranks, cut);
            if (cut) {
                args.start = ranks->front();
                args.stride = (*ranks)[1] - (*ranks)[0];
            }
        }
    if (args.list.empty()) return;
    json_.member("Process Group Ranks", args.list);
    if (args.stride == 0) return;
    json_.member("Global rank start", std::int64_t{args.start});
    json_.member("Global rank stride", std::int64_t{args.stride});
}

}  // namespace gpuprof::exporters
