#include "collect/inject/stream_calls.h"

#include <cstring>

#include "collect/inject/collector.h"
#include "collect/inject/event_ring.h"
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
// The names of both APIs, without "cuda" and "cu". BeginCaptureToGraph has the stream first, too.
constexpr NamedFunction kFunctions[] = {
    {"EventRecord", StreamCallKind::record_event, 1, 0},
    {"EventRecordWithFlags", StreamCallKind::record_event, 1, 0},
    {"StreamWaitEvent", StreamCallKind::wait_event, 0, 1},
    {"EventSynchronize", StreamCallKind::sync_event, kAbsent, 0},
    {"StreamSynchronize", StreamCallKind::sync_stream, 0, kAbsent},
    {"StreamBeginCapture", StreamCallKind::begin_capture, 0, kAbsent},
    {"StreamBeginCaptureToGraph", StreamCallKind::begin_capture, 0, kAbsent},
    {"StreamEndCapture", StreamCallKind::end_capture, 0, kAbsent},
};

// The call of this thread that was entered. A runtime function calls the driver's, which is then not a call of its own.
struct Entered {
    std::uint64_t time = 0;
    std::uint32_t domain = 0, opening = 0, correlation = 0;
};
thread_local Entered entered __attribute__((tls_model("initial-exec")));

// The argument at a place; arguments are pointers.
std::uint64_t argument(const CallbackData& call, std::uint8_t place) noexcept {
    std::uint64_t value = 0;
    if (place != kAbsent && call.arguments != nullptr)
        std::memcpy(&value, static_cast<const char*>(call.arguments) + place * sizeof value, sizeof value);
    return value;
}

}  // namespace

// A name may end in a version of the function, "_ptsz" for streams per thread, or both, in any order:
// cudaEventRecord_ptsz_v7000, cuStreamBeginCapture_v2_ptsz.
bool find_stream_function(const char* name, StreamFunction& function) noexcept {
    std::size_t api = std::strncmp(name, "cuda", 4) == 0 ? 4 : std::strncmp(name, "cu", 2) == 0 ? 2 : 0;
    if (api == 0) return false;
    for (const NamedFunction& each : kFunctions) {
        std::size_t length = std::strlen(each.name);
        if (std::strncmp(name + api, each.name, length) != 0) continue;
        const char* rest = name + api + length;
        if (*rest != '\0' && *rest != '_') continue;
        function = {each.kind, each.stream, each.event, std::strstr(rest, "_ptsz") != nullptr};
        return true;
    }
    return false;
}

void enter_stream_call(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept {
    bool inside = entered.domain == kRuntimeDomain && entered.opening == opening;
    if (domain == kDriverDomain && inside) return;
    entered = {static_cast<std::uint64_t>(realtime_ns()), domain, opening, call.correlation};
}

void leave_stream_call(const Cupti& cupti, const StreamFunction& function, const CallbackData& call,
                       std::uint32_t domain, std::uint32_t opening) noexcept {
    if (entered.domain != domain || entered.opening != opening || entered.correlation != call.correlation) return;
    entered.domain = 0;
    int result = 0;
    if (call.result != nullptr) std::memcpy(&result, call.result, sizeof result);
    if (result != 0 || !recording() || !window().open()) return;
    EventRing* ring = EventRing::of_this_thread();
    if (ring == nullptr) return;
    SampledOverheadTimer timed(ring->calls);
    spool::StreamCall record{};
    record.bytes = sizeof record;
    record.op = spool::NvtxOp::stream_call;
    record.kind = function.kind;
    record.time = entered.time;
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
