#include "analyze/facts/idle/idle_os_calls.h"

#include <algorithm>

#include "analyze/facts/facts.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMinCallPart = 10;  // a tenth

std::optional<OsCallTime> worth_telling(std::optional<OsCallTime> most, DurNs total) {
    return most && most->ns >= total / kMinCallPart ? most : std::nullopt;
}

}  // namespace

std::optional<OsCallTime> OsCallTimes::top() const {
    std::optional<OsCallTime> most;
    for (const auto& [name, ns] : of_)
        if (!most || ns > most->ns) most = {name, ns};
    return most;
}

OsCallTimes IdleOsCalls::within(StringId thread, Interval part) const {
    OsCallTimes times;
    auto found = threads_.find(thread);
    if (found == threads_.end()) return times;
    const std::vector<Span>& spans = found->second;
    auto span = std::upper_bound(spans.begin(), spans.end(), part.start,
                                 [](TimeNs time, const Span& each) { return time < each.time.end; });
    for (; span != spans.end() && span->time.start < part.end; ++span)
        times.add(span->name, std::min(span->time.end, part.end) - std::max(span->time.start, part.start));
    return times;
}

IdleOsCalls IdleOsCalls::make(const Facts& facts) {
    IdleOsCalls result;
    const OsCallTable& calls = facts.trace().tables().os_call;
    if (calls.rows == 0) return result;
    for (Row row = 0; row < calls.rows; ++row)
        if (calls.thread.has(row) && calls.name.has(row) && calls.dur[row] > 0)
            result.threads_[calls.thread[row]].push_back(
                {{calls.start[row], calls.start[row] + calls.dur[row]}, calls.name[row]});
    for (auto& [thread, spans] : result.threads_) {
        std::stable_sort(spans.begin(), spans.end(),
                         [](const Span& a, const Span& b) { return a.time.start < b.time.start; });
        TimeNs covered = spans.front().time.start;
        for (Span& span : spans) {
            span.time.start = std::max(span.time.start, covered);
            covered = std::max(covered, span.time.end);
        }
        std::erase_if(spans, [](const Span& span) { return span.time.length() <= 0; });
    }
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    for (const IdleSpan& piece : facts.get<IdleSpans>().spans) {
        Interval part{piece.start, piece.start + piece.dur};
        auto cause = static_cast<std::size_t>(piece.cause);
        OsCallTimes inside = result.within(gaps[piece.gap].host_thread, part);
        for (const auto& [name, ns] : inside.times()) {
            result.all[cause].add(name, ns);
            result.by_device[piece.device][cause].add(name, ns);
        }
    }
    return result;
}

std::optional<OsCallTime> IdleOsCalls::top(const DeviceIdle& device, IdleCause cause) const {
    auto known = by_device.find(device.device);
    if (known == by_device.end()) return std::nullopt;
    return worth_telling(known->second[static_cast<std::size_t>(cause)].top(),
                         device.causes[static_cast<std::size_t>(cause)].total);
}

std::optional<OsCallTime> IdleOsCalls::top(const IdleGaps& gaps, IdleCause cause) const {
    DurNs total = 0;
    for (const DeviceIdle& device : gaps.devices) total += device.causes[static_cast<std::size_t>(cause)].total;
    return worth_telling(all[static_cast<std::size_t>(cause)].top(), total);
}

std::optional<OsCallTime> IdleOsCalls::of(const IdleGap& gap) const {
    std::optional<OsCallTime> most = within(gap.host_thread, {gap.start, gap.start + gap.dur}).top();
    return most && most->ns >= gap.dur - most->ns ? most : std::nullopt;
}

}  // namespace gpuprof::facts
