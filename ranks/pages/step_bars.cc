#include "ranks/pages/step_bars.h"

#include <algorithm>
#include <cmath>

#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/price/rank_waits.h"

namespace gpuprof::inline ranks {
namespace {

DurNs* own_part(OwnTime& time, BarPart part) {
    switch (part) {
        case BarPart::input: return &time.input;
        case BarPart::host: return &time.host;
        case BarPart::unknown: return &time.unknown;
        case BarPart::copy: return &time.copy;
        case BarPart::compute: return &time.compute;
        default: return nullptr;
    }
}

// Builds a bar by the rank's own clock, from left to right.
class BarBuilder {
public:
    explicit BarBuilder(Interval window) : at_(window.start), end_(window.end) {}

    // A stretch that ends at `until`, with these sums, at most what is left of the step's: work before two collectives is the
    // same where both follow an earlier one. Sums that do not fit are scaled; the rest is communication.
    void own(TimeNs until, OwnTime own, OwnTime& left) {
        DurNs room = std::clamp(until, at_, end_) - at_;
        constexpr BarPart kParts[] = {BarPart::input, BarPart::host, BarPart::unknown, BarPart::copy, BarPart::compute};
        double sum = 0;
        for (BarPart part : kParts) {
            DurNs& dur = *own_part(own, part);
            dur = std::min(dur, *own_part(left, part));
            sum += static_cast<double>(dur);
        }
        double scale = sum > static_cast<double>(room) ? static_cast<double>(room) / sum : 1;
        TimeNs end = at_ + room;
        for (BarPart part : kParts) {
            DurNs dur = std::min<DurNs>(std::llround(scale * static_cast<double>(*own_part(own, part))), end - at_);
            add(dur, part);
            *own_part(left, part) -= dur;
        }
        add(end - at_, BarPart::transfer);
    }
    void add(DurNs dur, BarPart part) {
        dur = std::min(dur, end_ - at_);
        if (dur <= 0) return;
        at_ += dur;
        if (!spans_.empty() && spans_.back().part == part)
            spans_.back().dur += dur;
        else
            spans_.push_back({dur, part});
    }
    TimeNs at() const { return at_; }
    std::vector<BarSpan> take() { return std::move(spans_); }

private:
    TimeNs at_, end_;
    std::vector<BarSpan> spans_;
};

// What is left of a step's sums after those before its collectives: where the step before was not read, what came before
// the first one is not in its row.
OwnTime without(OwnTime step, const Job& job, const std::vector<std::uint32_t>& chain) {
    for (std::uint32_t i : chain)
        for (DurNs OwnTime::*part :
             {&OwnTime::compute, &OwnTime::copy, &OwnTime::input, &OwnTime::host, &OwnTime::unknown})
            step.*part = std::max<DurNs>(step.*part - job.collectives[i].own.*part, 0);
    return step;
}

bool is_unread(const Job::Collective& collective) {
    return collective.follows == kNone && collective.own.known() == 0 && collective.own.unknown == 0;
}

// Each slot gets the part that takes most of it.
std::vector<BarSpan> in_slots(const std::vector<BarSpan>& spans, DurNs whole, std::size_t slots) {
    std::vector<BarSpan> coarse;
    std::size_t next = 0;
    DurNs left = spans.empty() ? 0 : spans[0].dur, from = 0;
    for (std::size_t slot = 1; slot <= slots; ++slot) {
        auto until =
            static_cast<DurNs>(static_cast<double>(whole) * static_cast<double>(slot) / static_cast<double>(slots));
        if (slot == slots) until = whole;
        std::array<DurNs, kBarParts> sums{};
        for (DurNs room = until - from; room > 0 && next < spans.size();) {
            DurNs taken = std::min(room, left);
            sums[static_cast<std::size_t>(spans[next].part)] += taken;
            room -= taken;
            left -= taken;
            if (left == 0 && ++next < spans.size()) left = spans[next].dur;
        }
        auto part = static_cast<BarPart>(std::max_element(sums.begin(), sums.end()) - sums.begin());
        if (!coarse.empty() && coarse.back().part == part)
            coarse.back().dur += until - from;
        else if (until > from)
            coarse.push_back({until - from, part});
        from = until;
    }
    return coarse;
}

// The collectives of the step that the rank waited for: a later one follows them; and the last one.
std::vector<std::uint32_t> waited_for(const Job& job, const Job::Rank& rank, std::int64_t step) {
    std::vector<std::uint32_t> found;
    std::uint32_t last = kNone;
    for (std::uint32_t i = rank.first; i < rank.first + rank.collectives; ++i) {
        const Job::Collective& collective = job.collectives[i];
        if (collective.follows != kNone && job.collectives[collective.follows].step == step)
            found.push_back(collective.follows);
        if (collective.step == step && (last == kNone || collective.span.end > job.collectives[last].span.end))
            last = i;
    }
    if (last != kNone) found.push_back(last);
    std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(job.collectives[a].span.start, a) < std::pair(job.collectives[b].span.start, b);
    });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

std::string_view name_of(BarPart part) {
    switch (part) {
        case BarPart::input: return "input";
        case BarPart::host: return "host";
        case BarPart::unknown: return "unknown";
        case BarPart::copy: return "copy";
        case BarPart::compute: return "compute";
        case BarPart::wait: return "wait";
        case BarPart::transfer: return "transfer";
    }
    return "";
}

bool has_step(const Facts& facts, std::uint32_t rank, std::int64_t step) {
    return facts.get<Job>().find_step(rank, step) != nullptr;
}

StepBar step_bar(const Facts& facts, std::uint32_t rank, std::int64_t step, std::size_t most) {
    const Job& job = facts.get<Job>();
    const RankWaits& waits = facts.get<RankWaits>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    const Job::Rank& owner = job.ranks[rank];
    StepBar bar;
    bar.rank = rank;
    const Job::RankStep* recorded = job.find_step(rank, step);
    if (recorded == nullptr) return bar;
    BarBuilder builder(recorded->window);
    std::vector<std::uint32_t> chain = waited_for(job, owner, step);
    OwnTime left = recorded->own;
    for (std::uint32_t i : chain) {
        const Job::Collective& collective = job.collectives[i];
        if (collective.span.end <= builder.at()) continue;
        builder.own(collective.span.start, is_unread(collective) ? without(recorded->own, job, chain) : collective.own,
                    left);
        builder.add(collective.span.start + waits.wait[i] - builder.at(), BarPart::wait);
        builder.add(collective.span.end - builder.at(), BarPart::transfer);
    }
    builder.own(recorded->window.end, left, left);
    std::vector<BarSpan> before = builder.take();
    for (const BarSpan& span : before) bar.sums[static_cast<std::size_t>(span.part)] += span.dur;
    bar.spans = before.size() > most ? in_slots(before, recorded->window.length(), most) : std::move(before);
    bar.window = {clocks.common(owner.clock, recorded->window.start), clocks.common(owner.clock, recorded->window.end)};
    return bar;
}

}  // namespace gpuprof::ranks
