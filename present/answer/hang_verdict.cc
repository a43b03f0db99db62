#include "present/answer/hang_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/readable.h"
#include "core/model/build/damage.h"
#include "ranks/hangs/hang_text.h"
#include "ranks/hangs/hangs.h"
#include "ranks/reduce/call_text.h"

namespace gpuprof::inline answer {
namespace {

void say(Trust& trust, bool warning, std::string text) { trust.statements.push_back({warning, std::move(text)}); }

}  // namespace

Verdict hang_verdict(const Facts& facts) {
    const Hangs& hangs = facts.get<Hangs>();
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.because = hang_sentence(hangs);
    verdict.name = hangs.rows.empty()                             ? "no open collective"
                   : hangs.rows.front().cause == HangCause::cycle ? "deadlock"
                                                                  : "hang";
    if (hangs.rows.empty()) return verdict;
    const Hang& first = hangs.rows.front();
    std::size_t same_rank = 0, others = 0;
    for (std::size_t i = 1; i < hangs.rows.size(); ++i) {
        const Hang& hang = hangs.rows[i];
        if (!hang.root || (first.cause == HangCause::cycle && hang.cause == HangCause::cycle)) continue;
        bool same =
            first.cause == HangCause::missing && hang.cause == HangCause::missing && hang.culprits == first.culprits;
        ++(same ? same_rank : others);
    }
    if (first.dependents > 0 && first.cause != HangCause::cycle)
        verdict.because += fmt::format("; {} wait{} for this one", readable_count(first.dependents, "other collective"),
                                       first.dependents == 1 ? "s" : "");
    if (same_rank > 0)
        verdict.because += fmt::format(
            "; {} for the same rank{}",
            same_rank == 1 ? "another collective waits" : fmt::format("{} other collectives wait", same_rank),
            first.culprits.size() == 1 ? "" : "s");
    if (others > 0)
        verdict.because +=
            fmt::format("; {} for another reason (see the table hangs)",
                        others == 1 ? "another collective hangs" : fmt::format("{} other collectives hang", others));
    return verdict;
}

Trust hang_trust(const Facts& facts) {
    Trust trust;
    if (std::string damage = damage_of(facts.trace()); !damage.empty())
        trust.statements.push_back({.warning = true, .text = damage, .damage = true});
    const RankCalls& calls = facts.get<Hangs>().calls;
    RankList with, without;
    std::int64_t lost = 0;
    for (const auto& [rank, about] : calls.ranks) {
        (about.dump ? with : without).push_back(rank);
        lost = std::max(lost, about.lost);
    }
    say(trust, false,
        fmt::format("{} of {}, {}", readable_count(with.size(), "flight recorder dump"),
                    with.size() == 1 ? ranks_text(with) : readable_count(with.size(), "rank"),
                    readable_count(calls.groups.size(), "group")));
    if (!without.empty())
        say(trust, true,
            fmt::format("no dump of {} (see the table ranks); nothing is concluded about {}", ranks_text(without),
                        without.size() == 1 ? "it" : "them"));
    if (lost > 0)
        say(trust, false,
            fmt::format("up to {} earlier collectives of a rank had left its recorder's buffer", readable_count(lost)));
    return trust;
}

}  // namespace gpuprof::answer
