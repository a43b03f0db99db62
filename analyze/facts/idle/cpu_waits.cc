#include "analyze/facts/idle/cpu_waits.h"

#include <algorithm>

#include "analyze/facts/facts.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMinWaitPart = 10;  // a tenth

std::optional<DurNs> worth_telling(DurNs wait, DurNs total) {
    return wait > 0 && wait >= total / kMinWaitPart ? std::optional(wait) : std::nullopt;
}

IntervalSet lost_parts(const Trace& trace) {
    const CpuSliceTable& slices = trace.tables().cpu_slice;
    Intervals lost;
    for (Row row = 0; row < slices.rows; ++row)
        if (!slices.thread.has(row) && slices.end_state.has(row) && trace.text(slices.end_state[row]) == kLostSlices)
            lost.push_back({slices.start[row], slices.start[row] + slices.dur[row]});
    return unite(std::move(lost));
}

bool touches(const IntervalSet& set, Interval part) {
    auto found = std::upper_bound(set.begin(), set.end(), part.start,
                                  [](TimeNs time, const Interval& each) { return time < each.end; });
    return found != set.end() && found->start < part.end;
}

}  // namespace

CpuWaits CpuWaits::make(const Facts& facts) {
    CpuWaits waits;
    const Trace& trace = facts.trace();
    const CpuSliceTable& slices = trace.tables().cpu_slice;
    waits.lost = lost_parts(trace);
    std::map<StringId, TimeNs> ready_since;        // threads whose last stretch ended by preemption
    for (Row row = 0; row < slices.rows; ++row) {  // by start
        if (!slices.thread.has(row)) continue;
        StringId thread = slices.thread[row];
        Interval slice{slices.start[row], slices.start[row] + slices.dur[row]};
        if (auto known = ready_since.find(thread); known != ready_since.end()) {
            Interval wait{known->second, slice.start};
            if (wait.length() > 0 && !touches(waits.lost, wait)) waits.of_thread[thread].push_back(wait);
            ready_since.erase(known);
        }
        if (slices.end_state.has(row) && trace.text(slices.end_state[row]) == kPreempted)
            ready_since[thread] = slice.end;
    }
    return waits;
}

DurNs CpuWaits::within(StringId thread, Interval part) const {
    auto found = of_thread.find(thread);
    if (found == of_thread.end()) return 0;
    DurNs sum = 0;
    auto wait = std::upper_bound(found->second.begin(), found->second.end(), part.start,
                                 [](TimeNs time, const Interval& each) { return time < each.end; });
    for (; wait != found->second.end() && wait->start < part.end; ++wait)
        sum += std::min(wait->end, part.end) - std::max(wait->start, part.start);
    return sum;
}

IdleCpuWaits IdleCpuWaits::make(const Facts& facts) {
    IdleCpuWaits result;
    const CpuWaits& waits = facts.get<CpuWaits>();
    if (waits.of_thread.empty()) return result;
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    for (const IdleSpan& piece : facts.get<IdleSpans>().spans) {
        DurNs inside = waits.within(gaps[piece.gap].host_thread, {piece.start, piece.start + piece.dur});
        if (inside == 0) continue;
        auto cause = static_cast<std::size_t>(piece.cause);
        result.all[cause] += inside;
        result.by_device[piece.device][cause] += inside;
    }
    return result;
}

std::optional<DurNs> IdleCpuWaits::of(const DeviceIdle& device, IdleCause cause) const {
    auto known = by_device.find(device.device);
    if (known == by_device.end()) return std::nullopt;
    auto at = static_cast<std::size_t>(cause);
    return worth_telling(known->second[at], device.causes[at].total);
}

std::optional<DurNs> IdleCpuWaits::of(const IdleGaps& gaps, IdleCause cause) const {
    DurNs total = 0;
    auto at = static_cast<std::size_t>(cause);
    for (const DeviceIdle& device : gaps.devices) total += device.causes[at].total;
    return worth_telling(all[at], total);
}

std::optional<DurNs> cpu_wait_of(const Facts& facts, const IdleGap& gap) {
    DurNs wait = facts.get<CpuWaits>().within(gap.host_thread, {gap.start, gap.start + gap.dur});
    return wait > 0 && wait >= gap.dur - wait ? std::optional(wait) : std::nullopt;
}

}  // namespace gpuprof::facts
