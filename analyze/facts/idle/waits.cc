#include "analyze/facts/idle/waits.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/device_op.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/own_frames.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/knowledge/host_names.h"
#include "core/base/large_vector.h"

namespace gpuprof::inline facts {
namespace {

// A copy call blocks if it lasts until its copy ends and longer than a submission takes.
constexpr DurNs kSubmitting = 20'000;

struct Wait {
    Row call = kNoRow;
    StringId thread = kNoString;
    TimeNs start = 0, end = 0;
};

// The last device op of each copying call. Copies are few compared to calls, and calls are looked up in order.
class CopyOfCall {
public:
    explicit CopyOfCall(const Trace& trace) {
        for (Row copy = 0; copy < trace.memcpy().rows; ++copy)
            if (Row call = trace.links().memcpy_launch[copy]; call != kNoRow) copies_.push_back({call, copy});
        std::sort(copies_.begin(), copies_.end());
    }
    // kNoRow if the call made no copy. Calls must be looked up in ascending order.
    Row of(Row call) {
        while (next_ < copies_.size() && copies_[next_].first < call) ++next_;
        Row copy = kNoRow;
        for (; next_ < copies_.size() && copies_[next_].first == call; ++next_) copy = copies_[next_].second;
        return copy;
    }

private:
    LargeVector<std::pair<Row, Row>> copies_;  // call, copy
    std::size_t next_ = 0;
};

bool waits_for_copy(const Trace& trace, Row call, Row copy) {
    if (copy == kNoRow || trace.api_call().dur[call] < kSubmitting) return false;
    TimeNs end = trace.api_call().start[call] + trace.api_call().dur[call];
    return end >= trace.memcpy().start[copy] + trace.memcpy().dur[copy];
}

// Blocking calls by start; a call nested in another one (runtime over driver API) does not count again.
LargeVector<Wait> find_waits(const Facts& facts, Waits& found) {
    const Trace& trace = facts.trace();
    const Submitters& submitters = facts.get<Submitters>();
    const ApiCallTable& calls = trace.api_call();
    CopyOfCall copies(trace);
    CopyPaths paths(trace);
    std::vector<CallKind> kinds(trace.strings().size(), CallKind::other);
    std::vector<bool> known(trace.strings().size());
    std::map<StringId, TimeNs> open;
    LargeVector<Wait> waits;
    for (Row call = 0; call < calls.rows; ++call) {
        StringId name = calls.name.value_or(call, kNoString), thread = calls.thread.value_or(call, kNoString);
        if (name == kNoString || !submitters.has(thread)) continue;
        if (!known[index_of(name)]) {
            kinds[index_of(name)] = kind_of_call(trace.text(name));
            known[index_of(name)] = true;
        }
        CallKind kind = kinds[index_of(name)];
        Row copy = kind == CallKind::copy ? copies.of(call) : kNoRow;
        bool copying = waits_for_copy(trace, call, copy);
        if (kind != CallKind::sync && !copying) continue;
        Wait wait{call, thread, calls.start[call], calls.start[call] + calls.dur[call]};
        auto [until, first] = open.try_emplace(thread, wait.end);
        if (!first && wait.start < until->second) continue;
        until->second = wait.end;
        if (copying && paths.pageable(copy)) found.pageable_ns += calls.dur[call];
        waits.push_back(wait);
    }
    return waits;
}

double waits_per_step(const Facts& facts, const LargeVector<Wait>& waits) {
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    if (steps.size() < 2) return 0;
    std::size_t inside = 0, at = 0;
    for (const Wait& wait : waits) {
        while (at < steps.size() && steps[at].end <= wait.start) ++at;
        inside += at < steps.size() && steps[at].start <= wait.start;
    }
    return static_cast<double>(inside) / static_cast<double>(steps.size());
}

// Finds the call site of each wait.
std::vector<WaitSite> name_sites(const Trace& trace, const LargeVector<Wait>& waits) {
    HostTimeline timeline(trace, {HostKind::range, HostKind::python_call, HostKind::op});
    std::map<StringId, std::pair<std::vector<const Wait*>, std::vector<TimeNs>>> threads;  // with the starts
    for (const Wait& wait : waits) {
        auto& [own, starts] = threads[wait.thread];
        own.push_back(&wait);
        starts.push_back(wait.start);
    }
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, WaitSite> sites;
    for (const auto& [thread, own] : threads) {
        auto next = own.first.begin();
        timeline.each_innermost_at(thread, own.second, [&](const HostThread& piece, std::uint32_t at) {
            const Wait& wait = **next++;
            WaitSite site;
            site.call = trace.api_call().name.value_or(wait.call, kNoString);
            StringId op = kNoString, range = kNoString;
            for (; at != kNoSpan; at = piece.spans[at].parent) {
                const HostSpan& span = piece.spans[at];
                if (span.kind == HostKind::op) op = span.name;
                if (span.kind == HostKind::range && range == kNoString) range = span.name;
                if (span.kind == HostKind::python_call && site.line == kNoString && span.name != kNoString &&
                    !of_a_library(trace.text(span.name)))
                    site.line = span.name;
            }
            site.inside = op != kNoString ? op : range;
            WaitSite& to = sites.try_emplace({index_of(site.call), index_of(site.inside), index_of(site.line)}, site)
                               .first->second;
            ++to.count;
            to.blocked_ns += wait.end - wait.start;
        });
    }
    std::vector<WaitSite> found;
    for (auto& [key, site] : sites) found.push_back(site);
    std::stable_sort(found.begin(), found.end(),
                     [](const WaitSite& a, const WaitSite& b) { return a.blocked_ns > b.blocked_ns; });
    return found;
}

}  // namespace

const Interval* Waits::last_begun(StringId thread, TimeNs time) const {
    auto found = of_thread.find(thread);
    if (found == of_thread.end()) return nullptr;
    auto after = std::upper_bound(found->second.begin(), found->second.end(), time,
                                  [](TimeNs t, const Interval& each) { return t < each.start; });
    return after == found->second.begin() ? nullptr : &after[-1];
}

Waits Waits::make(const Facts& facts) {
    Waits found;
    LargeVector<Wait> waits = find_waits(facts, found);
    found.count = waits.size();
    for (const Wait& wait : waits) found.of_thread[wait.thread].push_back({wait.start, wait.end});
    for (const Wait& wait : waits) found.blocked_ns += wait.end - wait.start;
    if (!waits.empty()) found.per_step = waits_per_step(facts, waits);
    return found;
}

WaitSites WaitSites::make(const Facts& facts) {
    Waits ignored;
    LargeVector<Wait> waits = find_waits(facts, ignored);
    return {waits.empty() ? std::vector<WaitSite>() : name_sites(facts.trace(), waits)};
}

}  // namespace gpuprof::facts
