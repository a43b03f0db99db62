// A libcupti.so.13 that replays recorded activity through the real interface of activity buffers: the functions a collector
// calls, with CUPTI's results. Records come when a program calls fake_cuda_play() of the fake libcuda, which calls
// fake_cupti_play() here. It can be told to misbehave: faults.h. Source: cupti_activity.h, cupti_callbacks.h of CUPTI 13.0.
//
// In a child of fork() a flush hangs, as CUPTI's does when the parent had switched a kind on.
#include <unistd.h>
#include <mutex>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/cupti_play.h"
#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/handles.h"
#include "tests/fakes/cupti/interface.h"

using namespace fake_cupti;

std::atomic<bool> fake_cupti::driver_started{false};

namespace {

constexpr std::uint32_t kAttributes = 11;
constexpr std::uint32_t kFirstVersionWithoutBuffer = 27;
constexpr std::uint32_t kFirstVersionWithAllow = 130200;

// The one subscription of V1.
int subscribe(void** subscriber, Callback callback, void* data, const SubscriberParameters* parameters) {
    if (subscriber == nullptr) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client().lock);
    const std::string& holder = client().subscribed ? client().subscriber : faults().subscriber;
    if (client().subscribed || !holder.empty() || !decide(Interface::v1)) {
        tell_holder(parameters, holder);
        return kMultipleSubscribers;
    }
    client().subscribed = true;
    client().subscriber = parameters && parameters->name ? std::string("CUPTI for ") + parameters->name : "CUPTI";
    client().callback = callback;
    client().callback_data = data;
    *subscriber = &client();
    return kSuccess;
}

// One of several of V2.
int subscribe_v2(void** subscriber, Callback callback, void* data, const SubscriberParameters* parameters) {
    if (subscriber == nullptr) return kInvalidParameter;
    if (parameters && parameters->bytes != sizeof *parameters) return kInvalidParameter;
    bool allow = parameters && parameters->allow_others != 0;
    std::string holder = faults().subscriber;
    if (holder.empty() && !decide(Interface::v2)) holder = "CUPTI";
    bool first = true;
    for (std::size_t i = 1; i < kClients; ++i) {
        std::lock_guard<std::mutex> held(clients()[i].lock);
        if (!clients()[i].subscribed) continue;
        first = false;
        if (holder.empty() && (!allow || !others_allowed())) holder = clients()[i].subscriber;
    }
    if (!holder.empty()) {
        tell_holder(parameters, holder);
        return kMultipleSubscribers;
    }
    if (first) allow_others(allow);
    for (std::size_t i = 1; i < kClients; ++i) {
        Client& free = clients()[i];
        std::lock_guard<std::mutex> held(free.lock);
        if (free.subscribed) continue;
        free.subscribed = true;
        free.subscriber = parameters && parameters->name ? std::string("CUPTI for ") + parameters->name : "CUPTI";
        free.callback = callback;
        free.callback_data = data;
        *subscriber = &free;
        return kSuccess;
    }
    return kMultipleSubscribers;
}

// As the process ends, after whatever its exit handlers did.
[[gnu::destructor]] void at_exit() {
    if (faults().after_teardown) complete_held_back();
}

}  // namespace

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
    GATE();
    if (version == nullptr) return kInvalidParameter;
    *version = version_now();
    return kSuccess;
}

int cuptiGetResultString(int result, const char** text) {
    GATE();
    if (text == nullptr) return kInvalidParameter;
    switch (result) {
        case kSuccess: *text = "CUPTI_SUCCESS"; break;
        case kInvalidParameter: *text = "CUPTI_ERROR_INVALID_PARAMETER"; break;
        case kInvalidOperation: *text = "CUPTI_ERROR_INVALID_OPERATION"; break;
        case 8: *text = "CUPTI_ERROR_OUT_OF_MEMORY"; break;
        case kEndOfBuffer: *text = "CUPTI_ERROR_MAX_LIMIT_REACHED"; break;
        case 14: *text = "CUPTI_ERROR_NOT_COMPATIBLE"; break;
        case 15: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
        case kInvalidKind: *text = "CUPTI_ERROR_INVALID_KIND"; break;
        case 26: *text = "CUPTI_ERROR_HARDWARE_BUSY"; break;
        case 27: *text = "CUPTI_ERROR_NOT_SUPPORTED"; break;
        case 33: *text = "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"; break;
        case 35: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
        case kMultipleSubscribers: *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; break;
        case 999: *text = "CUPTI_ERROR_UNKNOWN"; break;
        default:
            if (result < 0 || result > 46) return kInvalidParameter;
            *text = "CUPTI_ERROR";
    }
    return kSuccess;
}

int cuptiGetTimestamp(std::uint64_t* time) {
    GATE();
    if (interface_now() == Interface::v2) return kNotCompatible;
    if (time == nullptr) return kInvalidParameter;
    Clock clock = client().clock.load();
    *time = clock ? clock() : now_ns();
    return kSuccess;
}

int cuptiSetThreadIdType(std::uint32_t type) {
    GATE_V1();
    if (type > 1) return kInvalidParameter;
    client().thread_id_type = type;
    return kSuccess;
}

int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t cbid, const char** name) {
    GATE();
    if (name == nullptr) return kInvalidParameter;
    const char* found = function_name(domain, cbid);
    if (found == nullptr) return kInvalidParameter;
    *name = found;
    return kSuccess;
}

int cuptiGetDeviceId(void*, std::uint32_t* device) {
    GATE();
    if (device == nullptr) return kInvalidParameter;
    *device = 0;
    return kSuccess;
}

int cuptiGetStreamIdEx(void*, void* stream, std::uint8_t, std::uint32_t* id) {
    GATE();
    if (id == nullptr) return kInvalidParameter;
    return stream_of_handle(reinterpret_cast<std::uint64_t>(stream), *id) ? kSuccess : kInvalidStream;
}

int cuptiSubscribe(void** subscriber, Callback callback, void* data) {
    GATE();
    return subscribe(subscriber, callback, data, nullptr);
}

// Before 13.2 a name for the subscription of V1; since then the beginning of V2.
int cuptiSubscribe_v2(void** subscriber, Callback callback, void* data, const SubscriberParameters* parameters) {
    GATE();
    constexpr std::size_t kNamesOnly = offsetof(SubscriberParameters, allow_others);
    if (has_multiple_subscribers()) return subscribe_v2(subscriber, callback, data, parameters);
    bool fits = !parameters || parameters->bytes == kNamesOnly ||
                (version_now() >= kFirstVersionWithAllow && parameters->bytes == sizeof *parameters);
    if (!fits) return kInvalidParameter;
    return subscribe(subscriber, callback, data, parameters);
}

int cuptiUnsubscribe(void* subscriber) {
    GATE();
    Client* client_of = subscribed(subscriber);
    if (client_of == nullptr) return kInvalidParameter;
    if (client_of != &client()) return reset(*client_of), kSuccess;
    std::lock_guard<std::mutex> held(client().lock);
    client().subscribed = false;
    client().callback = nullptr;
    client().callbacks.clear();
    client().calls_back = false;
    return kSuccess;
}

int cuptiEnableCallback(std::uint32_t enable, void* subscriber, std::uint32_t domain, std::uint32_t cbid) {
    GATE();
    Client* of = subscribed(subscriber);
    if (of == nullptr || domain == 0 || domain > 6) return kInvalidParameter;
    std::lock_guard<std::mutex> held(of->lock);
    if (enable)
        of->callbacks.emplace(domain, cbid);
    else
        of->callbacks.erase({domain, cbid});
    of->calls_back = !of->callbacks.empty();
    return kSuccess;
}

int cuptiEnableDomain(std::uint32_t enable, void* subscriber, std::uint32_t domain) {
    GATE();
    Client* of = subscribed(subscriber);
    if (of == nullptr || domain == 0 || domain > 6) return kInvalidParameter;
    std::lock_guard<std::mutex> held(of->lock);
    if (enable)
        of->callbacks.emplace(domain, ~0u);
    else
        std::erase_if(of->callbacks, [domain](const auto& each) { return each.first == domain; });
    of->calls_back = !of->callbacks.empty();
    return kSuccess;
}

int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
    GATE_V1();
    if (request == nullptr || complete == nullptr) return kInvalidParameter;
    allow_none(version_now() >= kFirstVersionWithoutBuffer);
    client().channel.torn_down = false;
    client().channel.complete = complete;
    client().channel.request = request;
    return kSuccess;
}

int cuptiActivityEnable(std::uint32_t kind) {
    GATE_V1();
    // Rules may name one kind: CUPTI answers 21 to those that its version does not know (cupti_result.h).
    if (int refused = gate(("cuptiActivityEnable:" + std::to_string(kind)).c_str())) return refused;
    return set_kind(client(), __func__, kind, true);
}

int cuptiActivityDisable(std::uint32_t kind) {
    GATE_V1();
    return set_kind(client(), __func__, kind, false);
}

int cuptiActivityEnableContext(void*, std::uint32_t kind) {
    GATE_V1();
    return set_kind(client(), __func__, kind, true);
}

int cuptiActivityDisableContext(void*, std::uint32_t kind) {
    GATE_V1();
    return set_kind(client(), __func__, kind, false);
}

int cuptiActivityEnableAndDump(std::uint32_t kind) {
    GATE_V1();
    return set_kind(client(), __func__, kind, true, true);
}

int cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t enable) {
    GATE_V1();
    return set_function(client(), __func__, kRuntimeDomain, cbid, enable);
}

int cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t enable) {
    GATE_V1();
    return set_function(client(), __func__, kDriverDomain, cbid, enable);
}

int cuptiActivityFlushAll(std::uint32_t flag) {
    GATE();
    bool any = false;
    for (Client& each : clients()) any |= each.channel.has_client();
    if (!any) return kInvalidOperation;
    if (InClient::now() != InClient::kNowhere && InClient::now() != InClient::kCallback)
        count_breach("cuptiActivityFlushAll is called within a function of its client");
    if (!check_driver_lives(__func__)) return kUnknown;
    while (home_process() != 0 && home_process() != getpid()) pause();
    // A flush returns when every record was handed over, also those in buffers that another thread's flush took.
    static std::recursive_mutex flushing;
    std::lock_guard<std::recursive_mutex> held(flushing);
    for (Client& each : clients()) flush_lanes(each.channel, (flag & 1) != 0);
    return kSuccess;
}

int cuptiActivityFlushPeriod(std::uint32_t) {
    GATE();
    return kSuccess;  // full buffers go back at once here
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    GATE_V1();
    return next_record(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
    GATE_V1();
    if (dropped == nullptr) return kInvalidParameter;
    *dropped = client().channel.dropped.exchange(0);
    return kSuccess;
}

int cuptiActivitySetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE_V1();
    return set_attribute(client(), attribute, bytes, value, kAttributes);
}

int cuptiActivityGetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE_V1();
    return get_attribute(client(), attribute, bytes, value, kAttributes);
}

int cuptiActivityRegisterTimestampCallback(Clock clock) {
    GATE_V1();
    if (clock == nullptr) return kInvalidParameter;
    client().clock_since_ns = now_ns();
    client().clock_since_ticks = clock();
    client().clock = clock;
    return kSuccess;
}

int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
    GATE_V1();
    return push_id(external_ids()[0], kind, id);
}

int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
    GATE_V1();
    return pop_id(external_ids()[0], kind, last);
}

// Does nothing while several are subscribed.
int cuptiFinalize() {
    GATE();
    int count = 0;
    for (Client& each : clients()) count += subscribed(&each) != nullptr;
    if (count > 1) return kSuccess;
    for (Client& each : clients()) reset(each);
    if (faults().after_teardown) std::thread(complete_held_back).detach();
    return kSuccess;
}

// For the fake libcuda and tests. A null script is the one that GPUPROF_FAKE_CUDA_SCRIPT names. -1: there is none.
int fake_cupti_play(const char* path, const char* options) {
    const Script* script = path ? find_script(path) : default_script();
    return script ? play(*script, options ? options : "") : -1;
}

void fake_cupti_call(std::uint32_t domain, std::uint32_t cbid) { call_function(domain, cbid); }

void fake_cupti_started() {
    owe_devices_to_all();
    driver_started = true;
    call_back(kResourceDomain, 5, nullptr);  // CU_INIT_FINISHED
}

// The driver's: one of its functions is called; its exit handler runs.
void fake_cupti_driver_call(const char* function) { check_driver_call(function); }
void fake_cupti_driver_ends() { tear_driver_down(); }

std::size_t fake_cupti_breaches() { return breaches(); }
}
