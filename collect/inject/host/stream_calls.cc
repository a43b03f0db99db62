#include "collect/inject/host/stream_calls.h"

#include <cstring>

#include "collect/inject/collector.h"
#include "collect/inject/host/api_call.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/overhead_timer.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

using spool::StreamCallKind;

constexpr std::uint8_t kAbsent = StreamFunction::kAbsent;

struct NamedFunction {
    const char* name;  // without version
    StreamCallKind kind;
    std::uint8_t stream, event;
};
// The names of both APIs, without "cuda" and "cu". Those that begin a capture have the stream first.
constexpr NamedFunction kStreamFunctions[] = {
    {"EventRecord", StreamCallKind::record_event, 1, 0},
    {"EventRecordWithFlags", StreamCallKind::record_event, 1, 0},
    {"StreamWaitEvent", StreamCallKind::wait_event, 0, 1},
    {"EventSynchronize", StreamCallKind::sync_event, kAbsent, 0},
    {"StreamSynchronize", StreamCallKind::sync_stream, 0, kAbsent},
    {"StreamBeginCapture", StreamCallKind::begin_capture, 0, kAbsent},
    {"StreamBeginCaptureToGraph", StreamCallKind::begin_capture, 0, kAbsent},
    {"StreamBeginRecaptureToGraph", StreamCallKind::begin_capture, 0, kAbsent},
    {"StreamEndCapture", StreamCallKind::end_capture, 0, kAbsent},
};

thread_local OuterCall entered_stream_call __attribute__((tls_model("initial-exec")));
thread_local std::uint64_t entered_stream_call_at __attribute__((tls_model("initial-exec"))) = 0;

// The argument at a place; arguments are pointers.
std::uint64_t argument(const CallbackData& call, std::uint8_t place) noexcept {
    std::uint64_t value = 0;
    if (place != kAbsent && call.arguments != nullptr)
        std::memcpy(&value, static_cast<const char*>(call.arguments) + place * sizeof value, sizeof value);
    return value;
}

}  // namespace

bool find_stream_function(const char* name, StreamFunction& function) noexcept {
    for (const NamedFunction& each : kStreamFunctions) {
        const char* rest = end_of_function(name, each.name);
        if (rest == nullptr) continue;
        function = {each.kind, each.stream, each.event, std::strstr(rest, "_ptsz") != nullptr};
        return true;
    }
    return false;
}

void enter_stream_call(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept {
    if (entered_stream_call.enter(call, domain, opening))
        entered_stream_call_at = static_cast<std::uint64_t>(realtime_ns());
}

void leave_stream_call(const Cupti& cupti, const StreamFunction& function, const CallbackData& call,
                       std::uint32_t domain, std::uint32_t opening) noexcept {
    if (!entered_stream_call.leave(call, domain, opening)) return;
    int result = 0;
    if (call.result != nullptr) std::memcpy(&result, call.result, sizeof result);
    if (result != 0 || !recording() || !window().open()) return;
    EventRing* ring = EventRing::of_this_thread();
    if (ring == nullptr) return;
    SampledOverheadTimer timed(ring->calls);
    spool::StreamCall record{};
    record.bytes = sizeof record;
    record.op = spool::HostEventOp::stream_call;
    record.kind = function.kind;
    record.time = entered_stream_call_at;
    record.end = static_cast<std::uint64_t>(realtime_ns());
    record.event = argument(call, function.event);
    record.stream = spool::StreamCall::kNoStream;
    std::uint32_t stream = 0;
    auto* handle = reinterpret_cast<void*>(argument(call, function.stream));
    if (function.stream != kAbsent && cupti.cuptiGetStreamIdEx != nullptr &&
        cupti.cuptiGetStreamIdEx(nullptr, handle, function.per_thread, &stream) == kCuptiSuccess)
        record.stream = stream;
    record.context = call.context_id;
    record.correlation = call.correlation;
    ring->add(record);
}

}  // namespace gpuprof::inject
