#include "ranks/hangs/hang_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "ranks/reduce/call_text.h"

namespace gpuprof::inline ranks {
namespace {

std::string capitalised(const std::string& text) {
    if (text.empty() || text[0] < 'a' || text[0] > 'z') return text;
    return static_cast<char>(text[0] - 'a' + 'A') + text.substr(1);
}

std::string at_place(const RankCall& call) {
    std::string place = called_at(call.stack, PathForm::name);
    return place.empty() ? std::string() : fmt::format(", called in {}", place);
}

// Ranks that have called it and are not through.
RankList open_in(const Hang& hang) {
    RankList ranks = hang.waiting;
    ranks.insert(ranks.end(), hang.not_begun.begin(), hang.not_begun.end());
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

std::string since_text(const Hang& hang) {
    return hang.since ? fmt::format(" since {}", time_text(*hang.since)) : std::string();
}

std::string last_text(const Hangs& hangs, std::int32_t rank, std::string_view whose) {
    const RankCall* last = hangs.last_of(rank);
    if (last == nullptr) return "its dump has no collectives";
    return fmt::format("{} last collective was {}{}", whose, collective_text(hangs.calls, *last), at_place(*last));
}

std::string missing_sentence(const Hangs& hangs, const Hang& hang) {
    RankList waiting = open_in(hang);
    bool one = hang.culprits.size() == 1, one_waits = waiting.size() == 1;
    return fmt::format(
        "{} never called {}; {} wait{} for {}{}; {}", capitalised(ranks_text(hang.culprits)),
        collective_text(hangs.calls, *hang.call), ranks_text(waiting), one_waits ? "s" : "", one ? "it" : "them",
        since_text(hang),
        last_text(hangs, hang.culprits.front(), one ? "its" : fmt::format("rank {}'s", hang.culprits.front())));
}

std::string mismatch_sentence(const Hangs& hangs, const Hang& hang) {
    auto group = hangs.calls.groups.find(hang.group);
    std::string of = group == hangs.calls.groups.end() ? "" : fmt::format(" of group {}", group->second.label);
    std::string what =
        hang.call->is_pair() ? collective_text(hangs.calls, *hang.call) : fmt::format("collective {}{}", hang.seq, of);
    return fmt::format("Ranks do not agree on {}: {}", what, hang.mismatch);
}

std::string cycle_sentence(const Hangs& hangs) {
    std::string text;
    for (std::size_t i = 0; i < hangs.in_cycle.size(); ++i) {
        const Hang& hang = hangs.rows[hangs.in_cycle[i]];
        text += fmt::format("{}{} wait{} in {} for {}", i == 0 ? "" : ", and ", ranks_text(open_in(hang)),
                            open_in(hang).size() == 1 ? "s" : "", collective_text(hangs.calls, *hang.call),
                            ranks_text(hang.missing.empty() ? hang.not_begun : hang.missing));
    }
    return capitalised(text);
}

std::string undecided_sentence(const Hangs& hangs, const Hang& hang) {
    RankList waiting = open_in(hang);
    std::string text =
        fmt::format("{} wait{} in {}{}", capitalised(ranks_text(waiting)), waiting.size() == 1 ? "s" : "",
                    collective_text(hangs.calls, *hang.call), since_text(hang));
    text += at_place(*hang.call);
    if (hangs.calls.of_one_dump != nullptr) return text + "; who is missing follows from the dumps of all ranks";
    if (!hang.no_dump.empty())
        text += fmt::format("; there is no dump of {}, so who is missing is unknown", ranks_text(hang.no_dump));
    RankList empty, cut;
    for (std::int32_t rank : hang.unknown) {
        auto about = hangs.calls.ranks.find(rank);
        bool lost = about == hangs.calls.ranks.end() || about->second.lost > 0;
        (hangs.last_of(rank) == nullptr && !lost ? empty : cut).push_back(rank);
    }
    if (!cut.empty()) text += fmt::format("; calls of {} may have left the recorder's buffer", ranks_text(cut));
    if (!empty.empty())
        text += fmt::format(
            "; the dump of {} has no entries although the group completed collectives before: its "
            "process was restarted, or its recorder was off",
            ranks_text(empty));
    if (hang.no_dump.empty() && hang.unknown.empty()) text += "; which other ranks belong to the group is not recorded";
    return text;
}

std::string no_hang_sentence(const Hangs& hangs) {
    if (hangs.calls.of_one_dump == nullptr)
        return "every recorded collective is complete on all ranks with a dump; if the job hangs, it waits for "
               "something "
               "that the flight recorder does not record";
    if (hangs.calls.calls.empty()) return "the dump has no collectives";
    const RankCall& last = hangs.calls.calls.back();
    return fmt::format("every collective that this rank called is complete; the last one was {}{}",
                       collective_text(hangs.calls, last), at_place(last));
}

}  // namespace

std::string hang_sentence(const Hangs& hangs) {
    if (hangs.rows.empty()) return no_hang_sentence(hangs);
    const Hang& hang = hangs.rows.front();
    switch (hang.cause) {
        case HangCause::missing: return missing_sentence(hangs, hang);
        case HangCause::mismatch: return mismatch_sentence(hangs, hang);
        case HangCause::cycle: return cycle_sentence(hangs);
        case HangCause::none:
            return fmt::format(
                "All ranks called {}, and {} did not complete it{}: no rank is missing, so look below the "
                "program (network, GPU, NCCL)",
                collective_text(hangs.calls, *hang.call), ranks_text(open_in(hang)), since_text(hang));
        case HangCause::undecided:
        case HangCause::waits:
        case HangCause::behind: break;
    }
    return undecided_sentence(hangs, hang);
}

}  // namespace gpuprof::ranks
