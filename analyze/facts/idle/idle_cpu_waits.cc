#include "analyze/facts/idle/idle_cpu_waits.h"

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/cpu_waits.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMinWaitPart = 10;  // a tenth

std::optional<DurNs> worth_telling(DurNs wait, DurNs total) {
    return wait > 0 && wait >= total / kMinWaitPart ? std::optional(wait) : std::nullopt;
}

}  // namespace

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
