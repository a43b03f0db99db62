// Exports CUPTI's names for another client in the process: this library is preloaded, so a client that calls CUPTI
// through dynamic symbols (as PyTorch does) arrives here. The launcher's policy decides:
//   share  both record; the multiplexer keeps the clients apart, and the other one gets copies of its records
//   own    the other is told that it cannot record, as CUPTI tells a second subscriber
//   yield  we stop recording device work when the other begins, and it has CUPTI to itself
// While we do not record, calls pass through. A client that looks up CUPTI's functions by dlsym in the library itself
// is not seen.
// Signatures: cupti_activity.h and cupti_callbacks.h, CUPTI 13.0.
#include <time.h>

#include "collect/inject/buffers.h"
#include "collect/inject/collector.h"
#include "collect/inject/cupti_multiplexer.h"
#include "collect/inject/other_client.h"

namespace gpuprof::inject {
namespace {

constexpr int kMultipleSubscribers = 39, kNotInitialized = 15;
constexpr int kNotSupported = 27;
constexpr std::uint32_t kZeroedBuffers = 5, kBufferPerThread = 9, kUserDefinedRecords = 11;
constexpr int kMaxForcedWaits = 10;
constexpr long kForcedWait = 10'000'000;  // ns

// How to handle a call of the other client.
enum class ClientMode { pass_through, shared, refused };
ClientMode client_mode() noexcept {
    if (!device_recording()) return ClientMode::pass_through;
    return settings().cupti == CuptiPolicy::own ? ClientMode::refused : ClientMode::shared;
}

template <class Function, class... Arguments>
int pass(Function Cupti::*function, Arguments... arguments) noexcept {
    const Cupti* cupti = cupti_multiplexer().cupti();
    return cupti != nullptr && cupti->*function != nullptr ? (cupti->*function)(arguments...) : kNotInitialized;
}

// Calls are noted even before we record, because we may begin later. Each is noted before CUPTI is switched: buffers
// return on other threads while that takes place, and their content belongs to the client from the moment of its call,
// or until then.
int set_kind(std::uint32_t kind, bool on) noexcept {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    on ? other_client().note_on(kind) : other_client().note_off(kind);
    int code = cupti_multiplexer().set_kind(ClientId::other, kind, on);
    if (code != kCuptiSuccess) {
        if (!on) other_client().note_still_on(kind);
        return code;
    }
    if (on && client_mode() == ClientMode::shared) other_client().prepare();
    return code;
}

int set_function(std::uint32_t domain, std::uint32_t kind, std::uint32_t cbid, std::uint8_t enable) noexcept {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (enable != 0) other_client().note_on(kind);
    return cupti_multiplexer().set_function(ClientId::other, domain, cbid, enable != 0);
}

}  // namespace
}  // namespace gpuprof::inject

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace gpuprof::inject;
using gpuprof::CuptiPolicy;
using gpuprof::cupti::Kind;

EXPORT int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (client_mode() == ClientMode::shared && settings().cupti == CuptiPolicy::yield) yield_device();
    other_client().set_callbacks(request, complete);
    if (client_mode() == ClientMode::shared) return kCuptiSuccess;
    return pass(&Cupti::cuptiActivityRegisterCallbacks, request, complete);
}

// Ours ends, so that the other client can have CUPTI's only subscription.
EXPORT int cuptiSubscribe(void** subscriber, ApiCallback callback, void* data) {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (client_mode() == ClientMode::shared) yield_callbacks();
    return pass(&Cupti::cuptiSubscribe, subscriber, callback, data);
}
EXPORT int cuptiSubscribe_v2(void** subscriber, ApiCallback callback, void* data, void* parameters) {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (client_mode() == ClientMode::shared) yield_callbacks();
    return pass(&Cupti::cuptiSubscribe_v2, subscriber, callback, data, parameters);
}

EXPORT int cuptiActivityEnable(std::uint32_t kind) { return set_kind(kind, true); }
EXPORT int cuptiActivityDisable(std::uint32_t kind) { return set_kind(kind, false); }

EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
    int code = set_kind(kind, true);
    return code == kCuptiSuccess ? pass(&Cupti::cuptiActivityEnableAndDump, kind) : code;
}

EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t enable) {
    return set_function(kRuntimeDomain, static_cast<std::uint32_t>(Kind::runtime), cbid, enable);
}
EXPORT int cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t enable) {
    return set_function(kDriverDomain, static_cast<std::uint32_t>(Kind::driver), cbid, enable);
}

// A forced flush returns the records of running kernels without end times, and their completion is never delivered, for
// both clients. Work in flight therefore gets a tenth of a second first, in which buffers return complete; then the
// flush is forced, as the other client requested.
EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
    if (client_mode() != ClientMode::shared) return pass(&Cupti::cuptiActivityFlushAll, flag);
    int code = pass(&Cupti::cuptiActivityFlushAll, 0u);
    for (int i = 0; flag != 0 && code == kCuptiSuccess && i < kMaxForcedWaits && buffers().given() > 0; ++i) {
        timespec length{0, kForcedWait};
        nanosleep(&length, nullptr);
        code = pass(&Cupti::cuptiActivityFlushAll, 0u);
    }
    if (flag != 0 && buffers().given() > 0) code = pass(&Cupti::cuptiActivityFlushAll, flag);
    other_client().hand_over();
    return code;
}

EXPORT int cuptiActivityRegisterTimestampCallback(ClientClock::Function function) {
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (will_record_device() && settings().cupti == CuptiPolicy::share)
        return other_client().set_clock(function), kCuptiSuccess;
    return pass(&Cupti::cuptiActivityRegisterTimestampCallback, function);
}

EXPORT int cuptiActivityGetNumDroppedRecords(void* context, std::uint32_t stream, std::size_t* dropped) {
    if (client_mode() != ClientMode::shared)
        return pass(&Cupti::cuptiActivityGetNumDroppedRecords, context, stream, dropped);
    if (dropped != nullptr) *dropped = static_cast<std::size_t>(cupti_multiplexer().take_dropped(ClientId::other));
    return kCuptiSuccess;
}

// Buffer attributes concern our buffers and stay unchanged. A different record layout would appear in our buffers too.
EXPORT int cuptiActivitySetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    if (client_mode() == ClientMode::shared && (attribute == kZeroedBuffers || attribute == kBufferPerThread))
        return kCuptiSuccess;
    if (client_mode() == ClientMode::shared && attribute == kUserDefinedRecords) return kNotSupported;
    return pass(&Cupti::cuptiActivitySetAttribute, attribute, bytes, value);
}

// Records identify threads by system ids, for both clients.
EXPORT int cuptiSetThreadIdType(std::uint32_t type) {
    return client_mode() == ClientMode::pass_through ? pass(&Cupti::cuptiSetThreadIdType, type) : kCuptiSuccess;
}

EXPORT int cuptiFinalize(void) {
    if (client_mode() == ClientMode::pass_through) return pass(&Cupti::cuptiFinalize);
    if (client_mode() == ClientMode::shared) {
        cupti_multiplexer().withdraw(ClientId::other);
        other_client().forget();
    }
    return kCuptiSuccess;
}
