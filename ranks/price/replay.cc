#include "ranks/price/replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include "analyze/facts/facts.h"
#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// Waits of a rank between a collective and what the work before it followed: more of them are not replayed.
constexpr std::size_t kMostWaits = 32;

}  // namespace

std::vector<DurNs> lengths_of(const std::vector<TimeNs>& ends, const std::vector<TimeNs>& begins) {
    std::vector<DurNs> lengths;
    TimeNs before = 0;
    for (std::size_t step = 0; step < ends.size(); ++step) {
        before = std::max(before, begins[step]);
        lengths.push_back(std::max<DurNs>(ends[step] - before, 0));
        before = std::max(before, ends[step]);
    }
    return lengths;
}

std::vector<DurNs> JobReplay::lengths(const std::vector<TimeNs>& step_ends) const {
    return lengths_of(step_ends, begins_);
}

double JobReplay::mean_of(const std::vector<DurNs>& step_lengths) const {
    std::vector<std::size_t> steps = counted();
    double sum = 0;
    for (std::size_t step : steps) sum += static_cast<double>(step_lengths[step]);
    return sum / static_cast<double>(std::max<std::size_t>(steps.size(), 1));
}

std::vector<std::size_t> JobReplay::counted() const {
    std::uint32_t most = 0;
    for (std::size_t step = 0; step < steps_; ++step)
        if (read_[step]) most = std::max(most, recorded_by_[step]);
    std::vector<std::size_t> all, clear;
    for (std::size_t step = 0; step < steps_; ++step) {
        if (!read_[step] || recorded_by_[step] != most || (step > 0 && !linked_[step])) continue;
        all.push_back(step);
        if (!doubtful_[step]) clear.push_back(step);
    }
    return clear.size() >= kFewestSteps ? clear : all;
}

bool JobReplay::has_doubtful_steps() const {
    std::vector<std::size_t> steps = counted();
    return std::any_of(steps.begin(), steps.end(), [&](std::size_t step) { return doubtful_[step]; });
}

// Steps that some ranks begin with and others do not: what these would gain before it would count as waiting for those. And
// steps in which a clock was set, whose times are wrong by as much.
void JobReplay::find_doubtful(const Job& job, const AlignedClocks& clocks) {
    doubtful_.assign(steps_, false);
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i)
        if (step_of_[i] != kNone && linked_[step_of_[i]] && job.collectives[i].follows == kNone)
            doubtful_[step_of_[i]] = true;
    for (const Job::Rank& rank : job.ranks) {
        const ClockFit& clock = clocks.clocks[rank.clock];
        if (clock.jump_ns == 0) continue;
        bool after = false;
        for (std::uint32_t i = rank.first; i < rank.first + rank.collectives && !after; ++i) {
            after = job.collectives[i].span.end > clock.jump_at;
            bool last =
                !after && i + 1 < rank.first + rank.collectives && job.collectives[i + 1].span.end > clock.jump_at;
            if ((after || last) && step_of_[i] != kNone) doubtful_[step_of_[i]] = true;
        }
    }
}

// Steps of which no collective depends on another step: the one before was not read.
void JobReplay::find_begins(const Job& job) {
    linked_.assign(steps_, false);
    begins_.assign(steps_, std::numeric_limits<TimeNs>::max());
    read_.assign(steps_, false);
    recorded_by_ = job.recorded_by();
    recorded_by_.resize(steps_, 0);
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i) {
        if (step_of_[i] == kNone) continue;
        for (std::uint32_t other : {job.collectives[i].follows, job.collectives[i].waited_for})
            if (other != kNone && step_of_[other] != step_of_[i]) linked_[step_of_[i]] = true;
        read_[step_of_[i]] = true;
        begins_[step_of_[i]] = std::min(begins_[step_of_[i]], start_[i]);
    }
    for (std::size_t step = 0; step < steps_; ++step)
        if (linked_[step] || begins_[step] == std::numeric_limits<TimeNs>::max()) begins_[step] = 0;
}

DurNs least_transfer(const MatchedJob& matched, const Instance& instance, const JobTimes& times) {
    DurNs least = std::numeric_limits<DurNs>::max();
    for (std::uint32_t collective : matched.owners(instance)) least = std::min(least, times.transfer[collective]);
    return least;
}

// Nodes in topological order; where damaged rows form a cycle, by their last arrival.
ReplayOrder JobReplay::order_with(const Job& job, const MatchedJob& matched, const JobTimes& others) const {
    ReplayOrder made;
    std::vector<std::uint32_t> node_of = matched.instance_of;  // where a collective ends
    std::vector<ReplayOrder::Node> found;
    std::vector<TimeNs> arrival = last_arrival;
    auto add = [&](std::uint32_t collective, ReplayOrder::What what) {
        found.push_back({static_cast<std::uint32_t>(made.members.size()), 1, what});
        arrival.push_back(common[collective].start);
        made.members.push_back(collective);
        return static_cast<std::uint32_t>(found.size() - 1);
    };
    for (const Instance& instance : matched.instances) {
        auto first = static_cast<std::uint32_t>(made.members.size());
        for (std::uint32_t member : matched.of(instance))
            if (awaits(matched, instance, member)) made.members.push_back(member);
        found.push_back({first, static_cast<std::uint32_t>(made.members.size()) - first,
                         instance.exchange ? ReplayOrder::What::end : ReplayOrder::What::collective});
    }
    std::vector<std::uint32_t> arrives_at = node_of;
    for (std::uint32_t collective = 0; collective < job.collectives.size(); ++collective) {
        if (std::uint32_t instance = matched.instance_of[collective]; instance == kNone)
            node_of[collective] = arrives_at[collective] = add(collective, ReplayOrder::What::collective);
        else if (matched.instances[instance].exchange)
            arrives_at[collective] = add(collective, ReplayOrder::What::arrival);
    }
    const std::size_t nodes = found.size();
    // A collective comes after what it follows, and after what the work that it needs waited for before that.
    auto each_before = [&](const JobTimes& times, std::uint32_t collective, auto&& visit) {
        for (std::uint32_t other : {times.follows[collective], times.waited_for[collective]}) {
            std::uint32_t until = other == kNone ? kNone : times.follows[other];
            for (std::size_t most = kMostWaits; other != kNone && other != until && most > 0; --most) {
                visit(other);
                other = times.wait_before[other];
            }
        }
    };
    auto each_edge = [&](auto&& visit) {
        for (std::uint32_t collective = 0; collective < job.collectives.size(); ++collective) {
            auto after = [&](std::uint32_t other) {
                if (other != kNone && node_of[other] != arrives_at[collective])
                    visit(node_of[other], arrives_at[collective]);
            };
            after(before_[collective]);
            each_before(recorded, collective, after);
            if (&others != &recorded) each_before(others, collective, after);
        }
        for (std::size_t node = 0; node < matched.instances.size(); ++node)
            if (found[node].what == ReplayOrder::What::end)
                for (std::uint32_t i = found[node].first; i < found[node].first + found[node].count; ++i)
                    visit(arrives_at[made.members[i]], static_cast<std::uint32_t>(node));
    };
    // By node: next[first[node]], ... are those after it.
    std::vector<std::uint32_t> first(nodes + 1, 0), waiting(nodes, 0);
    each_edge([&](std::uint32_t from, std::uint32_t to) {
        ++first[from + 1];
        ++waiting[to];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> next(first.back()), filled(first.begin(), first.end() - 1);
    each_edge([&](std::uint32_t from, std::uint32_t to) { next[filled[from]++] = to; });
    using Entry = std::pair<TimeNs, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (waiting[node] == 0) ready.emplace(arrival[node], node);
    std::vector<bool> done(nodes, false);
    while (!ready.empty()) {
        std::uint32_t node = ready.top().second;
        ready.pop();
        done[node] = true;
        made.nodes.push_back(found[node]);
        for (std::uint32_t i = first[node]; i < first[node + 1]; ++i)
            if (--waiting[next[i]] == 0) ready.emplace(arrival[next[i]], next[i]);
    }
    std::vector<std::uint32_t> cyclic;
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (!done[node]) cyclic.push_back(node);
    std::stable_sort(cyclic.begin(), cyclic.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return arrival[a] < arrival[b]; });
    for (std::uint32_t node : cyclic) made.nodes.push_back(found[node]);
    return made;
}

JobReplay JobReplay::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    JobReplay replay;
    std::size_t count = job.collectives.size();
    TimeNs zero = std::numeric_limits<TimeNs>::max();
    for (const Job::Collective& collective : job.collectives) {
        std::uint32_t clock = job.ranks[collective.rank].clock;
        replay.common.push_back(
            {clocks.common(clock, collective.span.start), clocks.common(clock, collective.span.end)});
        zero = std::min(zero, replay.common.back().start);
    }
    replay.last_arrival.assign(matched.instances.size(), std::numeric_limits<TimeNs>::min());
    for (std::size_t i = 0; i < matched.instances.size(); ++i)
        for (std::uint32_t collective : matched.of(matched.instances[i]))
            if (replay.awaits(matched, matched.instances[i], collective))
                replay.last_arrival[i] = std::max(replay.last_arrival[i], replay.common[collective].start);
    replay.recorded.own.resize(count);
    replay.recorded.transfer.resize(count);
    replay.waits.assign(count, true);
    replay.start_.resize(count);
    replay.steps_ = std::max<std::size_t>(job.steps.size(), 1);
    replay.ends.assign(replay.steps_, 0);
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> begins;  // by rank and step: their first collective
    for (std::uint32_t i = 0; i < count; ++i) {
        const Job::Collective& collective = job.collectives[i];
        replay.recorded.follows.push_back(collective.follows);
        replay.recorded.waited_for.push_back(collective.waited_for);
        replay.recorded.lead.push_back(collective.lead);
        replay.recorded.overlapped.push_back(collective.overlapped);
        replay.recorded.wait_before.push_back(collective.wait_before);
        replay.before_.push_back(collective.before);
        if (collective.follows != kNone) {
            DurNs whole = std::max<DurNs>(collective.span.start - job.collectives[collective.follows].span.end, 0);
            DurNs gap = std::min(collective.own.unknown, whole);
            replay.recorded.own[i] = std::min(whole - gap, collective.own.known());
        } else {
            replay.recorded.own[i] = collective.own.known();
        }
        replay.start_[i] = replay.common[i].start - zero - replay.recorded.own[i];
        std::uint32_t instance = matched.instance_of[i];
        TimeNs arrival = instance == kNone ? replay.common[i].start : replay.last_arrival[instance];
        replay.waits[i] = replay.common[i].end >= arrival;
        replay.recorded.transfer[i] = replay.common[i].end - (replay.waits[i] ? arrival : replay.common[i].start);
        auto step = std::lower_bound(job.steps.begin(), job.steps.end(), collective.step);
        bool known = step != job.steps.end() && *step == collective.step;
        replay.step_of_.push_back(known ? static_cast<std::uint32_t>(step - job.steps.begin()) : kNone);
        // All that follow nothing count from the same beginning of the step; of those that a queue or others held up, it lies
        // before their own time.
        if (collective.follows == kNone && known && (collective.own.known() > 0 || collective.own.unknown > 0)) {
            auto [first, fresh] = begins.try_emplace({collective.rank, collective.step}, i);
            if (!fresh) replay.start_[i] = replay.start_[first->second];
        }
        if (known) {
            TimeNs& end = replay.ends[replay.step_of_.back()];
            end = std::max(end, replay.common[i].end - zero);
        }
    }
    replay.find_begins(job);
    replay.find_doubtful(job, clocks);
    replay.order = replay.order_with(job, matched, replay.recorded);
    return replay;
}

std::vector<TimeNs> JobReplay::run(const JobTimes& times, const ReplayOrder& by) const {
    std::vector<TimeNs> end(before_.size(), 0), arrival(before_.size(), 0), steps(steps_, 0);
    constexpr TimeNs kUnset = std::numeric_limits<TimeNs>::min();
    std::vector<TimeNs> reached(before_.size(), kUnset);  // when a rank's work came to where it waits for a collective
    std::vector<std::uint32_t> chain;
    // When work goes on after it has waited for a collective.
    auto goes_on = [&](std::uint32_t collective) {
        chain.clear();
        for (std::uint32_t at = collective; at != kNone && reached[at] == kUnset && chain.size() < kMostWaits;
             at = times.wait_before[at])
            chain.push_back(at);
        while (!chain.empty()) {
            std::uint32_t at = chain.back(), before = times.wait_before[at];
            chain.pop_back();
            TimeNs since = kUnset;
            if (before != kNone)
                since = std::max(end[before], reached[before]);
            else if (times.follows[at] == kNone)
                since = start_[at];
            reached[at] = since == kUnset ? end[at] : since + times.overlapped[at];
        }
        return std::max(end[collective], reached[collective]);
    };
    auto arrive = [&](std::uint32_t i) {
        std::uint32_t follows = times.follows[i];
        arrival[i] = (follows == kNone ? start_[i] : goes_on(follows)) + times.own[i];
        if (before_[i] != kNone) arrival[i] = std::max(arrival[i], end[before_[i]]);
        if (std::uint32_t base = times.waited_for[i]; base != kNone)
            arrival[i] = std::max(arrival[i], goes_on(base) + times.lead[i]);
    };
    using What = ReplayOrder::What;
    for (const ReplayOrder::Node& node : by.nodes) {
        TimeNs last = std::numeric_limits<TimeNs>::min();
        for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
            std::uint32_t i = by.members[k];
            if (node.what != What::end) arrive(i);
            last = std::max(last, arrival[i]);
        }
        std::uint32_t ending = node.what == What::end ? 1 : 0;
        if (node.what == What::collective) ending = node.count;
        for (std::uint32_t k = node.first; k < node.first + ending; ++k) {
            std::uint32_t i = by.members[k];
            end[i] = (waits[i] ? last : arrival[i]) + times.transfer[i];
            if (step_of_[i] != kNone) steps[step_of_[i]] = std::max(steps[step_of_[i]], end[i]);
        }
    }
    return steps;
}

std::vector<PathPiece> critical_path(const Facts& facts, std::int64_t step, TimeNs begin) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const JobReplay& replay = facts.get<JobReplay>();
    std::uint32_t at = kNone;
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i)
        if (job.collectives[i].step == step && (at == kNone || replay.common[i].end > replay.common[at].end)) at = i;
    std::vector<PathPiece> path;
    auto add = [&](std::uint32_t rank, TimeNs from, TimeNs to, bool transfer) {
        if (std::max(from, begin) < to) path.push_back({rank, {std::max(from, begin), to}, transfer});
    };
    TimeNs until = at == kNone ? begin : replay.common[at].end;
    while (at != kNone && until > begin) {
        std::uint32_t last = at;
        if (std::uint32_t instance = matched.instance_of[at]; instance != kNone && replay.waits[at])
            for (std::uint32_t member : matched.of(matched.instances[instance])) {
                bool later = replay.common[member].start > replay.common[last].start;
                if (later && replay.awaits(matched, matched.instances[instance], member)) last = member;
            }
        TimeNs arrival = std::min(replay.common[last].start, until);
        add(job.collectives[at].rank, arrival, until, true);
        const Job::Collective& collective = job.collectives[last];
        std::uint32_t next = collective.queued && collective.before != kNone ? collective.before : collective.follows;
        TimeNs from = next == kNone ? begin : std::min(replay.common[next].end, arrival);
        add(collective.rank, from, arrival, false);
        if (from >= until) break;  // damaged rows that refer to each other
        at = next;
        until = from;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace gpuprof::ranks
