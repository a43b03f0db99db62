// A libcupti.so.13 that replays recorded activity through the real interface of activity buffers: the functions a collector
// calls, with CUPTI's results. Records come when a program calls fake_cuda_play() of the fake libcuda, which calls
// fake_cupti_play() here. It can be told to misbehave: faults.h. Source: cupti_activity.h, cupti_callbacks.h of CUPTI 13.0.
//
// In a child of fork() a flush hangs, as CUPTI's does when the parent had switched a kind on.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/handles.h"
#include "tests/fakes/cupti/play.h"
#include "tests/fakes/cupti/script.h"

using namespace fake_cupti;

std::atomic<bool> fake_cupti::driver_started{false};

namespace {

enum Result : int {
    kSuccess = 0,
    kInvalidParameter = 1,
    kInvalidOperation = 7,
    kParameterSize = 10,
    kEndOfBuffer = 12,
    kQueueEmpty = 18,
    kInvalidStream = 20,
    kInvalidKind = 21,
    kMultipleSubscribers = 39,
};

constexpr std::uint32_t kNewestVersion = 130001;
constexpr std::uint32_t kZeroedBuffers = 5;  // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER
constexpr std::uint32_t kAttributes = 11;
constexpr std::uint32_t kSerialKernel = 3;  // CUPTI_ACTIVITY_KIND_KERNEL
constexpr std::uint32_t kFirstVersionWithoutBuffer = 27;

// The process in which a kind was switched on first.
std::atomic<pid_t> home{0};

const Script* default_script() {
    const char* path = std::getenv("GPUPROF_FAKE_CUDA_SCRIPT");
    return path && *path ? find_script(path) : nullptr;
}

std::uint32_t version_now() {
    const Script* script = default_script();
    return faults().version ? faults().version : script ? script->version : kNewestVersion;
}

// What CUPTI records is switched by one thread at a time (cupti_callbacks.h says so of callbacks, and nothing allows it for kinds), not
// within a function that hands buffers over, and not within a callback: NVIDIA's sample does that, but Disable of 13.0 may deadlock.
class Switching {
public:
    explicit Switching(const char* function) {
        if (InClient::now() == InClient::kBufferFunction) breach(function, "called within a function of buffers");
        if (InClient::now() == InClient::kCallback) breach(function, "called within a callback");
        if (inside_.fetch_add(1) > 0) breach(function, "called while another thread switches");
    }
    ~Switching() { inside_.fetch_sub(1); }
    Switching(const Switching&) = delete;

private:
    static void breach(const char* function, const char* what) {
        count_breach((std::string(function) + " is " + what).c_str());
    }
    static inline std::atomic<int> inside_{0};
};

int set_kind(const char* function, std::uint32_t kind, bool on) {
    Switching switching(function);
    if (kind == 0 || kind >= kKinds) return kInvalidKind;
    if (on && kind == kSerialKernel) count_breach("the kind KERNEL makes kernels run one after the other");
    if (on && home == 0) home = getpid();
    client().kinds[kind] = on;
    if (!on) forget_in_flight(kind);
    // "overrules the settings done by this API if it is called after the API": cupti_activity.h
    if (kind == kRuntime || kind == kDriver)
        for (auto& request : client().functions[kind == kRuntime ? kRuntimeDomain : kDriverDomain])
            request = kUnspecified;
    return kSuccess;
}

int set_function(const char* function, std::uint32_t domain, std::uint32_t cbid, std::uint8_t enable) {
    Switching switching(function);
    if (cbid == 0 || cbid >= kFunctions) return kInvalidParameter;
    if (home == 0) home = getpid();
    client().functions[domain][cbid] = enable ? kWanted : kUnwanted;
    return kSuccess;
}

struct SubscriberParameters {  // CUpti_SubscriberParams
    std::size_t bytes;
    const char* name;
    char* old_name;
    std::size_t old_name_bytes;
};

int subscribe(void** subscriber, Callback callback, void* data, const SubscriberParameters* parameters) {
    if (subscriber == nullptr) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client().lock);
    const std::string& holder = client().subscribed ? client().subscriber : faults().subscriber;
    if (client().subscribed || !holder.empty()) {
        if (parameters && parameters->old_name && parameters->old_name_bytes > 0) {
            std::strncpy(parameters->old_name, holder.c_str(), parameters->old_name_bytes - 1);
            parameters->old_name[parameters->old_name_bytes - 1] = 0;
        }
        return kMultipleSubscribers;
    }
    client().subscribed = true;
    client().subscriber = parameters && parameters->name ? std::string("CUPTI for ") + parameters->name : "CUPTI";
    client().callback = callback;
    client().callback_data = data;
    *subscriber = &client();
    return kSuccess;
}

void forget_subscriber() {
    std::lock_guard<std::mutex> held(client().lock);
    client().subscribed = false;
    client().callback = nullptr;
    client().callbacks.clear();
    client().calls_back = false;
}

// As the process ends, after whatever its exit handlers did.
[[gnu::destructor]] void at_exit() {
    if (faults().after_teardown) complete_held_back();
}

}  // namespace

// Begins every function of CUPTI: what a rule says comes first.
#define GATE()                                      \
    do {                                            \
        if (int code = gate(__func__)) return code; \
    } while (false)

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
    if (time == nullptr) return kInvalidParameter;
    Clock clock = client().clock.load();
    *time = clock ? clock() : now_ns();
    return kSuccess;
}

int cuptiSetThreadIdType(std::uint32_t type) {
    GATE();
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

int cuptiSubscribe_v2(void** subscriber, Callback callback, void* data, const SubscriberParameters* parameters) {
    GATE();
    if (parameters && parameters->bytes < sizeof *parameters) return kInvalidParameter;
    return subscribe(subscriber, callback, data, parameters);
}

int cuptiUnsubscribe(void* subscriber) {
    GATE();
    if (subscriber != &client()) return kInvalidParameter;
    forget_subscriber();
    return kSuccess;
}

int cuptiEnableCallback(std::uint32_t enable, void* subscriber, std::uint32_t domain, std::uint32_t cbid) {
    GATE();
    if (subscriber != &client() || domain == 0 || domain > 6) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client().lock);
    if (enable)
        client().callbacks.emplace(domain, cbid);
    else
        client().callbacks.erase({domain, cbid});
    client().calls_back = !client().callbacks.empty();
    return kSuccess;
}

int cuptiEnableDomain(std::uint32_t enable, void* subscriber, std::uint32_t domain) {
    GATE();
    if (subscriber != &client() || domain == 0 || domain > 6) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client().lock);
    if (enable)
        client().callbacks.emplace(domain, ~0u);
    else
        client().callbacks.erase({domain, ~0u});
    client().calls_back = !client().callbacks.empty();
    return kSuccess;
}

int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
    GATE();
    if (request == nullptr || complete == nullptr) return kInvalidParameter;
    allow_none(version_now() >= kFirstVersionWithoutBuffer);
    set_client(request, complete);
    return kSuccess;
}

int cuptiActivityEnable(std::uint32_t kind) {
    GATE();
    return set_kind(__func__, kind, true);
}

int cuptiActivityDisable(std::uint32_t kind) {
    GATE();
    return set_kind(__func__, kind, false);
}

int cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t enable) {
    GATE();
    return set_function(__func__, kRuntimeDomain, cbid, enable);
}

int cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t enable) {
    GATE();
    return set_function(__func__, kDriverDomain, cbid, enable);
}

int cuptiActivityFlushAll(std::uint32_t flag) {
    GATE();
    if (!has_client()) return kInvalidOperation;
    if (InClient::now() != InClient::kNowhere)
        count_breach("cuptiActivityFlushAll is called within a function of its client");
    while (home != 0 && home != getpid()) pause();
    flush_lanes((flag & 1) != 0);
    return kSuccess;
}

int cuptiActivityFlushPeriod(std::uint32_t) {
    GATE();
    return kSuccess;  // full buffers go back at once here
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    GATE();
    if (buffer == nullptr || record == nullptr) return kInvalidParameter;
    std::uint8_t* next = buffer;
    if (*record != nullptr) {
        std::uint32_t bytes = bytes_of_kind(read<std::uint32_t>(*record, 0));
        if (bytes == 0 || *record < buffer || *record >= buffer + valid) return kInvalidParameter;
        next = *record + bytes;
    }
    if (next + sizeof(std::uint32_t) > buffer + valid) return kEndOfBuffer;
    std::uint32_t bytes = bytes_of_kind(read<std::uint32_t>(next, 0));
    if (bytes == 0 || next + bytes > buffer + valid) return kInvalidKind;
    *record = next;
    return kSuccess;
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
    GATE();
    if (dropped == nullptr) return kInvalidParameter;
    *dropped = take_dropped();
    return kSuccess;
}

int cuptiActivitySetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE();
    if (bytes == nullptr || value == nullptr || attribute >= kAttributes) return kInvalidParameter;
    if (*bytes == 0) return kParameterSize;
    auto* begin = static_cast<unsigned char*>(value);
    if (attribute == kZeroedBuffers) promise_zeroed(*begin != 0);
    std::lock_guard<std::mutex> held(client().lock);
    client().attributes[attribute].assign(begin, begin + *bytes);
    return kSuccess;
}

int cuptiActivityGetAttribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE();
    if (bytes == nullptr || value == nullptr || attribute >= kAttributes) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client().lock);
    const auto& kept = client().attributes[attribute];
    if (*bytes < kept.size()) return kParameterSize;
    std::memset(value, 0, *bytes);
    if (!kept.empty()) std::memcpy(value, kept.data(), kept.size());
    return kSuccess;
}

int cuptiActivityRegisterTimestampCallback(Clock clock) {
    GATE();
    if (clock == nullptr) return kInvalidParameter;
    client().clock_since_ns = now_ns();
    client().clock_since_ticks = clock();
    client().clock = clock;
    return kSuccess;
}

int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
    GATE();
    if (kind == 0 || kind > 6) return kInvalidParameter;
    external_ids()[kind].push_back(id);
    return kSuccess;
}

int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
    GATE();
    if (kind == 0 || kind > 6) return kInvalidParameter;
    auto& ids = external_ids()[kind];
    if (ids.empty()) return kQueueEmpty;
    if (last) *last = ids.back();
    ids.pop_back();
    return kSuccess;
}

int cuptiFinalize() {
    GATE();
    for (auto& kind : client().kinds) kind = false;
    for (auto& domain : client().functions)
        for (auto& function : domain) function = kUnspecified;
    client().clock = nullptr;
    forget_subscriber();
    tear_down();
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
    driver_started = true;
    call_back(kResourceDomain, 5, nullptr);  // CU_INIT_FINISHED
}

std::size_t fake_cupti_breaches() { return breaches(); }
}
