#include "analyze/facts/idle/idle_launches.h"

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/stack_samples.h"
#include "core/base/text/python_frame.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

std::optional<LaunchPlaceTime> most_of(const std::map<std::string_view, DurNs>& times, DurNs total) {
    LaunchPlaceTime most;
    for (const auto& [place, ns] : times)
        if (ns > most.ns) most = {place, ns};
    return most.ns > 0 && most.ns >= total - most.ns ? std::optional(most) : std::nullopt;
}

}  // namespace

std::string_view launch_place(std::string_view stack) {
    std::string_view innermost, python;
    each_frame(stack, [&](std::string_view frame) {
        innermost = frame;
        if (parse_frame(frame).line >= 0) python = frame;
    });
    return python.empty() ? innermost : python;
}

std::string_view IdleLaunches::of(const Trace& trace, const IdleGap& gap) const {
    const Links& links = trace.links();
    Row call = kNoRow;
    if (gap.after_op == DeviceOp::kernel) call = links.kernel_launch[gap.after];
    if (gap.after_op == DeviceOp::memcpy) call = links.memcpy_launch[gap.after];
    if (gap.after_op == DeviceOp::memset) call = links.memset_launch[gap.after];
    if (call == kNoRow || !trace.api_call().stack.has(call)) return {};
    return launch_place(trace.text(trace.api_call().stack[call]));
}

IdleLaunches IdleLaunches::make(const Facts& facts) {
    IdleLaunches result;
    const Trace& trace = facts.trace();
    if (trace.api_call().stack.none_present()) return result;
    std::map<std::uint32_t, std::string_view> places;  // by gap
    const PodVector<IdleGap>& gaps = facts.get<GapList>().gaps;
    for (const IdleSpan& piece : facts.get<IdleSpans>().spans) {
        auto [place, added] = places.try_emplace(piece.gap);
        if (added) place->second = result.of(trace, gaps[piece.gap]);
        if (place->second.empty()) continue;
        auto cause = static_cast<std::size_t>(piece.cause);
        result.all_[cause][place->second] += piece.dur;
        result.by_device_[piece.device][cause][place->second] += piece.dur;
    }
    return result;
}

std::optional<LaunchPlaceTime> IdleLaunches::top(const DeviceIdle& device, IdleCause cause) const {
    auto known = by_device_.find(device.device);
    if (known == by_device_.end()) return std::nullopt;
    auto which = static_cast<std::size_t>(cause);
    return most_of(known->second[which], device.causes[which].total);
}

std::optional<LaunchPlaceTime> IdleLaunches::top(const IdleGaps& gaps, IdleCause cause) const {
    auto which = static_cast<std::size_t>(cause);
    DurNs total = 0;
    for (const DeviceIdle& device : gaps.devices) total += device.causes[which].total;
    return most_of(all_[which], total);
}

}  // namespace gpuprof::facts
