#include "analyze/facts/idle/idle_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/stack_samples.h"
#include "core/base/text/ascii.h"
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

namespace {

constexpr DurNs kMinCallPart = 10;  // a tenth

// Frames of the C library, the driver, the runtime and recorders, and those without a symbol, do not say what the program did.
bool is_program(std::string_view frame) {
    if (contains_any(frame, {"(libc.so", "(libc-", "(libpthread", "(ld-linux", "(libcuda.", "(libcudart",
                             "(libToolsInjection", "(libgpuprof", "cudart"}))
        return false;
    for (std::string_view prefix : {"0x", "?", "_start", "cuda", "[", "std::"})
        if (frame.starts_with(prefix)) return false;
    return true;
}

std::string_view caller_in(std::string_view stack) {
    std::string_view innermost, python;
    each_frame(stack, [&](std::string_view frame) {
        if (!is_program(frame)) return;
        innermost = frame;
        if (parse_frame(frame).line >= 0) python = frame;
    });
    return python.empty() ? innermost : python;
}

std::optional<OsCallTime> worth_telling(std::optional<OsCallTime> most, DurNs total) {
    return most && most->ns >= total / kMinCallPart ? most : std::nullopt;
}

}  // namespace

std::optional<OsCallTime> OsCallTimes::top() const {
    std::optional<OsCallTime> most;
    for (const auto& [name, places] : of_) {
        OsCallTime call{name, 0, {}};
        DurNs longest = 0;
        for (const auto& [place, ns] : places) {
            call.ns += ns;
            if (place.empty() || ns <= longest) continue;
            longest = ns;
            call.place = place;
        }
        if (!most || call.ns > most->ns) most = call;
    }
    return most;
}

std::string OsCallTime::text(const Trace& trace) const {
    return place.empty() ? std::string(trace.text(name)) : fmt::format("{}, called in {}", trace.text(name), place);
}

OsCallTimes IdleOsCalls::within(StringId thread, Interval part) const {
    OsCallTimes times;
    auto found = threads_.find(thread);
    if (found == threads_.end()) return times;
    const std::vector<Span>& spans = found->second;
    auto span = std::upper_bound(spans.begin(), spans.end(), part.start,
                                 [](TimeNs time, const Span& each) { return time < each.time.end; });
    for (; span != spans.end() && span->time.start < part.end; ++span)
        times.add(span->name, span->place, std::min(span->time.end, part.end) - std::max(span->time.start, part.start));
    return times;
}

IdleOsCalls IdleOsCalls::make(const Facts& facts) {
    IdleOsCalls result;
    const OsCallTable& calls = facts.trace().tables().os_call;
    if (calls.rows == 0) return result;
    std::map<StringId, std::string_view> callers;  // by stack
    for (Row row = 0; row < calls.rows; ++row) {
        if (!calls.thread.has(row) || !calls.name.has(row) || calls.dur[row] <= 0) continue;
        std::string_view place;
        if (calls.stack.has(row)) {
            auto [known, added] = callers.try_emplace(calls.stack[row]);
            if (added) known->second = caller_in(facts.trace().text(calls.stack[row]));
            place = known->second;
        }
        result.threads_[calls.thread[row]].push_back(
            {{calls.start[row], calls.start[row] + calls.dur[row]}, calls.name[row], place});
    }
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
        for (const auto& [name, places] : inside.times())
            for (const auto& [place, ns] : places) {
                result.all[cause].add(name, place, ns);
                result.by_device[piece.device][cause].add(name, place, ns);
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
