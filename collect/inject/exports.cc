// Exports CUPTI's names for another client in the process: this library is preloaded, so a client that calls CUPTI
// through dynamic symbols (as PyTorch does) arrives here. The launcher's policy decides:
//   share  both record; the multiplexer keeps the clients apart, and the other one gets copies of its records
//   own    the other is told that it cannot record, as CUPTI tells a second subscriber
//   yield  we stop recording device work when the other begins, and it has CUPTI to itself
// While we do not record, calls pass through. If CUPTI allows several subscribers (cupti_v2.h), calls pass to a
// subscription of the other client's own, and nothing is copied; clients that use V2 themselves do not arrive here. A
// client that looks up CUPTI's functions by dlsym in the library itself is not seen.
// Signatures: cupti_activity.h and cupti_callbacks.h, CUPTI 13.5.
#include <dlfcn.h>
#include <time.h>

#include "collect/inject/collector.h"
#include "collect/inject/counters/stall_collector.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/spool/buffers.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint32_t kZeroedBuffers = 5, kBufferPerThread = 9, kUserDefinedRecords = 11;
constexpr int kMaxForcedWaits = 10;
constexpr long kForcedWait = 10'000'000;  // ns

// How to handle a call of the other client.
enum class ClientMode { pass_through, shared, refused };
ClientMode client_mode() noexcept {
    bool separate = cupti_multiplexer().separate();
    bool ours = separate && settings().cupti == CuptiPolicy::own ? will_record_device() : device_recording();
    if (!ours) return ClientMode::pass_through;
    if (settings().cupti == CuptiPolicy::own) return ClientMode::refused;
    return separate ? ClientMode::pass_through : ClientMode::shared;
}

template <class Function, class... Arguments>
int pass(Function Cupti::*function, Arguments... arguments) noexcept {
    const Cupti* cupti = cupti_multiplexer().cupti(ClientId::other);
    return cupti != nullptr && cupti->*function != nullptr ? (cupti->*function)(arguments...) : kCuptiNotInitialized;
}
// For functions that switch something.
template <class Function, class... Arguments>
int pass_unless_refused(Function Cupti::*function, Arguments... arguments) noexcept {
    // The first call loads CUPTI, which decides on the interface.
    if (cupti_multiplexer().cupti() != nullptr && client_mode() == ClientMode::refused) return kMultipleSubscribers;
    return pass(function, arguments...);
}

void yield_if_wanted() noexcept {
    if (device_recording() && settings().cupti == CuptiPolicy::yield) yield_device();
}

// Calls are noted even before we record, because we may begin later. Each is noted before CUPTI is switched: buffers
// return on other threads while that takes place, and their content belongs to the client from the moment of its call,
// or until then.
int set_kind(std::uint32_t kind, bool on) noexcept {
    if (cupti_multiplexer().cupti() == nullptr) return kCuptiNotInitialized;
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    // Sampling of warps excludes it.
    if (on && cupti::Kind{kind} == cupti::Kind::concurrent_kernel && stalls_wanted() && will_record_device())
        return kCuptiNotCompatible;
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
    if (cupti_multiplexer().cupti() == nullptr) return kCuptiNotInitialized;
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
    if (cupti_multiplexer().cupti() == nullptr) return kCuptiNotInitialized;
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    yield_if_wanted();
    if (!cupti_multiplexer().separate()) other_client().set_callbacks(request, complete);
    if (client_mode() == ClientMode::shared) return kCuptiSuccess;
    return pass(&Cupti::cuptiActivityRegisterCallbacks, request, complete);
}

// Of CUPTI's only subscription ours ends, so that the other client can have it.
EXPORT int cuptiSubscribe(void** subscriber, ApiCallback callback, void* data) {
    if (client_mode() == ClientMode::shared) yield_callbacks();
    return pass_unless_refused(&Cupti::cuptiSubscribe, subscriber, callback, data);
}
EXPORT int cuptiUnsubscribe(void* subscriber) {
    bool translated = cupti_multiplexer().separate() && cupti_v2().is_of(ClientId::other, subscriber);
    const Cupti* cupti = translated ? cupti_multiplexer().cupti(ClientId::other) : cupti_multiplexer().real();
    return cupti != nullptr && cupti->cuptiUnsubscribe != nullptr ? cupti->cuptiUnsubscribe(subscriber)
                                                                  : kCuptiNotInitialized;
}
// A client of V2, or of V1 with a name. Nothing of V2 is translated, so its other functions are not exported.
EXPORT int cuptiSubscribe_v2(void** subscriber, ApiCallback callback, void* data, void* parameters) {
    // The first subscriber decides whether others are allowed, unless the launcher wants CUPTI for us.
    if (settings().cupti == CuptiPolicy::own) cupti_multiplexer().cupti();
    const Cupti* real = cupti_multiplexer().real();
    if (real == nullptr || real->cuptiSubscribe_v2 == nullptr) return kCuptiNotInitialized;
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (client_mode() == ClientMode::shared) yield_callbacks();
    if (cupti_multiplexer().separate()) yield_if_wanted();
    return real->cuptiSubscribe_v2(subscriber, callback, data, parameters);
}

EXPORT int cuptiActivityEnable(std::uint32_t kind) { return set_kind(kind, true); }
EXPORT int cuptiActivityDisable(std::uint32_t kind) { return set_kind(kind, false); }

// A kind of one context would overrule the kinds of both clients, so the kind of all contexts is switched.
EXPORT int cuptiActivityEnableContext(void* context, std::uint32_t kind) {
    return will_record_device() ? set_kind(kind, true) : pass(&Cupti::cuptiActivityEnableContext, context, kind);
}
EXPORT int cuptiActivityDisableContext(void* context, std::uint32_t kind) {
    return will_record_device() ? set_kind(kind, false) : pass(&Cupti::cuptiActivityDisableContext, context, kind);
}

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

EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    return pass(&Cupti::cuptiActivityGetNextRecord, buffer, valid, record);
}
EXPORT int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
    return pass(&Cupti::cuptiActivityPushExternalCorrelationId, kind, id);
}
EXPORT int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
    return pass(&Cupti::cuptiActivityPopExternalCorrelationId, kind, last);
}

// A forced flush returns the records of running kernels without end times, and their completion is never delivered, for
// both clients. Work in flight therefore gets a tenth of a second first, in which buffers return complete; then the
// flush is forced, as the other client requested.
EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
    bool both = device_recording() && settings().cupti != CuptiPolicy::own;
    if (!both) return pass(&Cupti::cuptiActivityFlushAll, flag);
    int code = pass(&Cupti::cuptiActivityFlushAll, 0u);
    for (int i = 0; flag != 0 && code == kCuptiSuccess && i < kMaxForcedWaits && buffers().given() > 0; ++i) {
        timespec length{0, kForcedWait};
        nanosleep(&length, nullptr);
        code = pass(&Cupti::cuptiActivityFlushAll, 0u);
    }
    if (flag != 0 && buffers().given() > 0) code = pass(&Cupti::cuptiActivityFlushAll, flag);
    if (!cupti_multiplexer().separate()) other_client().hand_over();
    return code;
}
EXPORT int cuptiActivityFlush(void*, std::uint32_t, std::uint32_t flag) { return cuptiActivityFlushAll(flag); }
EXPORT int cuptiActivityFlushPeriod(std::uint32_t ms) {
    return pass_unless_refused(&Cupti::cuptiActivityFlushPeriod, ms);
}

EXPORT int cuptiActivityRegisterTimestampCallback(ClientClock::Function function) {
    if (cupti_multiplexer().cupti() == nullptr) return kCuptiNotInitialized;
    if (client_mode() == ClientMode::refused) return kMultipleSubscribers;
    if (!cupti_multiplexer().separate() && will_record_device() && settings().cupti == CuptiPolicy::share) {
        other_client().set_clock(function);
        return kCuptiSuccess;
    }
    return pass(&Cupti::cuptiActivityRegisterTimestampCallback, function);
}

EXPORT int cuptiGetTimestamp(std::uint64_t* time) {
    ClientClock::Function clock = client_mode() == ClientMode::shared ? other_client().clock() : nullptr;
    if (clock == nullptr || time == nullptr) return pass(&Cupti::cuptiGetTimestamp, time);
    *time = clock();
    return kCuptiSuccess;
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
    if (client_mode() == ClientMode::shared && attribute == kUserDefinedRecords) return kCuptiNotSupported;
    return pass(&Cupti::cuptiActivitySetAttribute, attribute, bytes, value);
}

EXPORT int cuptiActivityGetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    return pass(&Cupti::cuptiActivityGetAttribute, attribute, bytes, value);
}

// Switches that are attributes in V2.
#define EXPORT_FLAG(name) \
    EXPORT int name(std::uint8_t enable) { return pass_unless_refused(&Cupti::name, enable); }
EXPORT_FLAG(cuptiActivityEnableHWTrace)
EXPORT_FLAG(cuptiActivityEnableAllocationSource)
EXPORT_FLAG(cuptiActivityEnableLatencyTimestamps)
EXPORT_FLAG(cuptiActivityEnableAllSyncRecords)
EXPORT_FLAG(cuptiActivityEnableCudaEventDeviceTimestamps)
EXPORT_FLAG(cuptiActivityEnableLaunchAttributes)
EXPORT_FLAG(cuptiActivityEnableDeviceGraph)
#undef EXPORT_FLAG

// If one CUPTI serves both clients, records identify threads by system ids for both.
EXPORT int cuptiSetThreadIdType(std::uint32_t type) {
    if (cupti_multiplexer().cupti() == nullptr) return kCuptiNotInitialized;
    return client_mode() == ClientMode::pass_through ? pass(&Cupti::cuptiSetThreadIdType, type) : kCuptiSuccess;
}
EXPORT int cuptiGetThreadIdType(std::uint32_t* type) { return pass(&Cupti::cuptiGetThreadIdType, type); }

// CUPTI's own would end our recording too.
EXPORT int cuptiFinalize(void) {
    bool separate = cupti_multiplexer().separate();
    if (separate && cupti_v2().subscribed(ClientId::other)) {
        cupti_multiplexer().withdraw(ClientId::other);
        return pass(&Cupti::cuptiFinalize);
    }
    if (separate || client_mode() == ClientMode::refused) return kCuptiSuccess;
    if (client_mode() == ClientMode::pass_through) return pass(&Cupti::cuptiFinalize);
    cupti_multiplexer().withdraw(ClientId::other);
    other_client().forget();
    return kCuptiSuccess;
}

// For the stand-in of libcupti (collect/stand_in): the function that a linked client would call. Null: there is none.
EXPORT void* gpuprof_cupti_function(const char* name) {
    Dl_info self{};
    void* library = dladdr(reinterpret_cast<void*>(&gpuprof_cupti_function), &self) != 0
                        ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : nullptr;
    if (void* function = library != nullptr ? dlsym(library, name) : nullptr) return function;
    const Cupti* real = cupti_multiplexer().real();
    library = real != nullptr ? dlopen(real->path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return library != nullptr ? dlsym(library, name) : nullptr;
}
