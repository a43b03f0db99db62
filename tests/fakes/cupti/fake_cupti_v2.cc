// The second interface of CUPTI (V2, since 13.3): every function takes the subscriber whose kinds, buffers, attributes, drops and
// external ids it means. Source: cupti_activity.h of CUPTI 13.5. Attributes of all subscribers are those of the process: the
// level of CUDA graphs (20) is locked once anyone has switched a kind on.
#include <cstring>

#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/interface.h"

using namespace fake_cupti;

namespace {

constexpr std::uint32_t kSubscriberState = 12, kGraphLevel = 20, kThreadIdType = 21, kTimestampCallback = 22,
                        kAttributes = 25;
constexpr std::uint32_t kFirstWithKindOptions = 130400;

std::atomic<bool> graphs_as_a_whole{false};

struct ActivityConfig {  // CUpti_ActivityConfig; the last since 13.4
    std::size_t bytes;
    std::size_t fields_bytes, fields;
    int* ids;
    void* kind_options;
};

bool refused(const ActivityConfig* config) {
    if (config == nullptr) return false;
    std::size_t known =
        version_now() >= kFirstWithKindOptions ? sizeof *config : offsetof(ActivityConfig, kind_options);
    return config->bytes != known;
}

int enable(Client& client, const char* function, std::uint32_t kind, bool on, const ActivityConfig* config,
           bool dump = false) {
    if (refused(config)) return kInvalidParameter;
    if (on && kind == kGraphTrace && others_allowed() && !graphs_as_a_whole) return kNotSupported;
    return set_kind(client, function, kind, on, dump);
}

template <class Value>
int take(const std::size_t* bytes, const void* value, Value& taken) {
    if (*bytes != sizeof taken) return kParameterSize;
    std::memcpy(&taken, value, sizeof taken);
    return kSuccess;
}

int set_clock(Client& client, Clock clock) {
    if (clock != nullptr) client.clock_since_ns = now_ns(), client.clock_since_ticks = clock();
    client.clock = clock;
    return kSuccess;
}

}  // namespace

// Begins the functions of V2: `client` is the subscriber's.
#define GATE_V2(handle)                               \
    GATE();                                           \
    Client* of = subscribed(handle);                  \
    if (of == nullptr || of == &fake_cupti::client()) \
        return has_multiple_subscribers() ? kInvalidParameter : kNotSupported;

extern "C" {

int cuptiActivityRegisterCallbacks_v2(void* subscriber, RequestBufferV2 request, CompleteBufferV2 complete) {
    GATE_V2(subscriber)
    if (request == nullptr || complete == nullptr) return kInvalidParameter;
    of->channel.torn_down = false;
    of->channel.complete_v2 = complete;
    of->channel.request_v2 = request;
    return kSuccess;
}

int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, const ActivityConfig* config) {
    GATE_V2(subscriber)
    return enable(*of, __func__, kind, true, config);
}

int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, const ActivityConfig* config) {
    GATE_V2(subscriber)
    return enable(*of, __func__, kind, false, config);
}

int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, const ActivityConfig* config) {
    GATE_V2(subscriber)
    return enable(*of, __func__, kind, true, config, true);
}

int cuptiActivityEnableRuntimeApi_v2(void* subscriber, std::uint32_t cbid, std::uint8_t on) {
    GATE_V2(subscriber)
    return set_function(*of, __func__, kRuntimeDomain, cbid, on);
}

int cuptiActivityEnableDriverApi_v2(void* subscriber, std::uint32_t cbid, std::uint8_t on) {
    GATE_V2(subscriber)
    return set_function(*of, __func__, kDriverDomain, cbid, on);
}

// Without a subscriber: of all together. `size` is in bytes.
int cuptiActivityGetEnabledKinds(void* subscriber, std::uint32_t* kinds, std::uint32_t* size, std::uint32_t* count) {
    GATE();
    if (count == nullptr || (kinds != nullptr && size == nullptr)) return kInvalidParameter;
    std::uint32_t room = kinds != nullptr ? *size / static_cast<std::uint32_t>(sizeof *kinds) : 0;
    *count = 0;
    for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
        bool on = false;
        for (Client& each : clients()) on |= (subscriber == nullptr || subscriber == &each) && each.kinds[kind];
        if (on && *count < room) kinds[*count] = kind;
        *count += on;
    }
    return kSuccess;
}

int cuptiActivityGetNextRecord_v2(void* subscriber, std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    GATE_V2(subscriber)
    return next_record(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void*, std::uint32_t, std::size_t* dropped) {
    GATE_V2(subscriber)
    if (dropped == nullptr) return kInvalidParameter;
    *dropped = of->channel.dropped.exchange(0);
    return kSuccess;
}

int cuptiActivitySetAttribute_v2(void* subscriber, std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE_V2(subscriber)
    if (bytes == nullptr || value == nullptr || attribute == kSubscriberState) return kInvalidParameter;
    if (attribute == kGraphLevel) {
        std::uint8_t whole = 0;
        if (int code = take(bytes, value, whole)) return code;
        if (any_kind_was_on() && graphs_as_a_whole != (whole != 0)) return kInvalidOperation;
        graphs_as_a_whole = whole != 0;
    }
    if (attribute == kThreadIdType) {
        std::uint32_t type = 0;
        if (int code = take(bytes, value, type)) return code;
        of->thread_id_type = type;
    }
    if (attribute == kTimestampCallback) {
        Clock clock = nullptr;
        if (int code = take(bytes, value, clock)) return code;
        return set_clock(*of, clock);
    }
    return set_attribute(*of, attribute, bytes, value, kAttributes);
}

int cuptiActivityGetAttribute_v2(void* subscriber, std::uint32_t attribute, std::size_t* bytes, void* value) {
    GATE();
    if (attribute == kSubscriberState) {
        if (bytes == nullptr || value == nullptr) return kInvalidParameter;
        bool anyone = false;
        for (Client& each : clients()) anyone |= subscribed(&each) != nullptr;
        *static_cast<std::uint8_t*>(value) = !anyone ? 2 : others_allowed() ? 1 : 0;
        return kSuccess;
    }
    Client* of = subscribed(subscriber);
    if (of == nullptr) return kInvalidParameter;
    return get_attribute(*of, attribute, bytes, value, kAttributes);
}

int cuptiActivityPushExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t id) {
    GATE_V2(subscriber)
    return push_id(external_ids()[static_cast<std::size_t>(of - clients().data())], kind, id);
}

int cuptiActivityPopExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t* last) {
    GATE_V2(subscriber)
    return pop_id(external_ids()[static_cast<std::size_t>(of - clients().data())], kind, last);
}

int cuptiGetTimestamp_v2(void* subscriber, std::uint64_t* time) {
    GATE_V2(subscriber)
    if (time == nullptr) return kInvalidParameter;
    Clock clock = of->clock.load();
    *time = clock ? clock() : now_ns();
    return kSuccess;
}
}
