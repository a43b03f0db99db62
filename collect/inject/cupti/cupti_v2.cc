#include "collect/inject/cupti/cupti_v2.h"

#include <dlfcn.h>

#include <cstring>

#include "collect/inject/switch_lock.h"
#include "core/format/cupti_versions.h"

namespace gpuprof::inject {
namespace {

constinit CuptiV2 second_interface;

constexpr std::uint32_t kDomains = 6;  // CUpti_CallbackDomain: driver, runtime, resource, synchronize, nvtx, state

}  // namespace

CuptiV2& cupti_v2() noexcept { return second_interface; }

// One client's functions in the shape of V1.
template <ClientId id>
struct V1Adapters {
    static CuptiV2::Subscription& self() noexcept { return second_interface.of(id); }

    static void* handle(int& code) noexcept {
        void* known = self().handle.load(std::memory_order_acquire);
        if (known != nullptr || id == ClientId::ours) {
            code = known != nullptr ? kCuptiSuccess : kMultipleSubscribers;
            return known;
        }
        SwitchLock turn(second_interface.lock_);
        known = self().handle.load(std::memory_order_acquire);
        code = known != nullptr ? kCuptiSuccess : second_interface.subscribe(id, "gpu-profile (for V1)", call_back);
        if (known == nullptr && code == kCuptiSuccess) second_interface.given_.fetch_add(1, std::memory_order_relaxed);
        return self().handle.load(std::memory_order_acquire);
    }
    template <class Function, class... Arguments>
    static int call(Function function, Arguments... arguments) noexcept {
        int code = kCuptiSuccess;
        void* subscriber = handle(code);
        return code == kCuptiSuccess ? function(subscriber, arguments...) : code;
    }

    static void call_back(void*, std::uint32_t domain, std::uint32_t cbid, const void* about) {
        if (ApiCallback callback = self().callback.load(std::memory_order_acquire))
            callback(self().data.load(std::memory_order_relaxed), domain, cbid, about);
    }
    static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*) {
        *buffer = nullptr;
        *size = *max_records = 0;
        if (RequestBuffer function = self().request.load(std::memory_order_acquire))
            function(buffer, size, max_records);
    }
    static void complete(std::uint8_t* buffer, std::size_t size, std::size_t valid, void*) {
        if (CompleteBuffer function = self().complete.load(std::memory_order_acquire))
            function(nullptr, 0, buffer, size, valid);
    }

    static int register_callbacks(RequestBuffer to_request, CompleteBuffer to_complete) {
        if (to_request == nullptr || to_complete == nullptr) return kCuptiInvalidParameter;
        self().complete.store(to_complete, std::memory_order_release);
        self().request.store(to_request, std::memory_order_release);
        return call(second_interface.cuptiActivityRegisterCallbacks_v2, request, complete);
    }
    static int enable(std::uint32_t kind) { return call(second_interface.cuptiActivityEnable_v2, kind, nullptr); }
    static int disable(std::uint32_t kind) { return call(second_interface.cuptiActivityDisable_v2, kind, nullptr); }
    static int enable_and_dump(std::uint32_t kind) {
        return call(second_interface.cuptiActivityEnableAndDump_v2, kind, nullptr);
    }
    // V2 has no kinds of one context: the whole process is recorded.
    static int enable_in_context(void*, std::uint32_t kind) { return enable(kind); }
    static int disable_in_context(void*, std::uint32_t kind) { return disable(kind); }
    static int enable_runtime(std::uint32_t cbid, std::uint8_t on) {
        return call(second_interface.cuptiActivityEnableRuntimeApi_v2, cbid, on);
    }
    static int enable_driver(std::uint32_t cbid, std::uint8_t on) {
        return call(second_interface.cuptiActivityEnableDriverApi_v2, cbid, on);
    }
    static int next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
        return call(second_interface.cuptiActivityGetNextRecord_v2, buffer, valid, record);
    }
    static int dropped(void* context, std::uint32_t stream, std::size_t* count) {
        return call(second_interface.cuptiActivityGetNumDroppedRecords_v2, context, stream, count);
    }
    static int get_attribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
        return call(second_interface.cuptiActivityGetAttribute_v2, attribute, bytes, value);
    }
    static int set_attribute(std::uint32_t attribute, std::size_t* bytes, void* value) {
        return call(second_interface.cuptiActivitySetAttribute_v2, attribute, bytes, value);
    }
    template <class Value>
    static int set(V2Attribute attribute, Value value) {
        std::size_t bytes = sizeof value;
        return set_attribute(attribute, &bytes, &value);
    }
    template <V2Attribute attribute>
    static int set_flag(std::uint8_t on) {
        return set(attribute, on);
    }
    static int set_thread_id_type(std::uint32_t type) { return set(kThreadIdType, type); }
    static int get_thread_id_type(std::uint32_t* type) {
        std::size_t bytes = sizeof *type;
        return get_attribute(kThreadIdType, &bytes, type);
    }
    static int register_clock(std::uint64_t (*clock)()) { return set(kTimestampCallback, clock); }
    static int push_id(std::uint32_t kind, std::uint64_t id_pushed) {
        return call(second_interface.cuptiActivityPushExternalCorrelationId_v2, kind, id_pushed);
    }
    static int pop_id(std::uint32_t kind, std::uint64_t* last) {
        return call(second_interface.cuptiActivityPopExternalCorrelationId_v2, kind, last);
    }
    static int timestamp(std::uint64_t* now) { return call(second_interface.cuptiGetTimestamp_v2, now); }

    // A subscription of V1 is for callbacks only. Here it shares the one for records, which has the same handle.
    static int subscribe(void** subscriber, ApiCallback callback, void* data) {
        if (subscriber == nullptr || callback == nullptr) return kCuptiInvalidParameter;
        int code = kCuptiSuccess;
        void* known = handle(code);
        if (code != kCuptiSuccess) return code;
        if (self().callback.load(std::memory_order_acquire) != nullptr) return kMultipleSubscribers;
        self().data.store(data, std::memory_order_relaxed);
        self().callback.store(callback, std::memory_order_release);
        *subscriber = known;
        return kCuptiSuccess;
    }
    static int unsubscribe(void* subscriber) {
        if (subscriber == nullptr || subscriber != self().handle.load(std::memory_order_acquire))
            return kCuptiInvalidParameter;
        second_interface.end_callbacks(self());
        return kCuptiSuccess;
    }
    static int finalize() {
        SwitchLock turn(second_interface.lock_);
        void* known = self().handle.exchange(nullptr);
        self().callback.store(nullptr, std::memory_order_release);
        return known != nullptr ? second_interface.cuptiUnsubscribe(known) : kCuptiSuccess;
    }

    static void fill(Cupti& table) noexcept {
        table.cuptiActivityRegisterCallbacks = register_callbacks;
        table.cuptiActivityEnable = enable;
        table.cuptiActivityDisable = disable;
        table.cuptiActivityEnableAndDump = enable_and_dump;
        table.cuptiActivityEnableContext = enable_in_context;
        table.cuptiActivityDisableContext = disable_in_context;
        table.cuptiActivityEnableRuntimeApi = enable_runtime;
        table.cuptiActivityEnableDriverApi = enable_driver;
        table.cuptiActivityGetNextRecord = next_record;
        table.cuptiActivityGetNumDroppedRecords = dropped;
        table.cuptiActivityGetAttribute = get_attribute;
        table.cuptiActivitySetAttribute = set_attribute;
        table.cuptiActivityEnableHWTrace = set_flag<kHardwareTrace>;
        table.cuptiActivityEnableAllocationSource = set_flag<kAllocationSource>;
        table.cuptiActivityEnableLatencyTimestamps = set_flag<kLatencyTimestamps>;
        table.cuptiActivityEnableAllSyncRecords = set_flag<kAllSyncRecords>;
        table.cuptiActivityEnableCudaEventDeviceTimestamps = set_flag<kEventDeviceTimestamps>;
        table.cuptiActivityEnableLaunchAttributes = set_flag<kLaunchAttributes>;
        table.cuptiActivityEnableDeviceGraph = set_flag<kDeviceGraph>;
        table.cuptiSetThreadIdType = set_thread_id_type;
        table.cuptiGetThreadIdType = get_thread_id_type;
        table.cuptiActivityRegisterTimestampCallback = register_clock;
        table.cuptiActivityPushExternalCorrelationId = push_id;
        table.cuptiActivityPopExternalCorrelationId = pop_id;
        table.cuptiGetTimestamp = timestamp;
        table.cuptiSubscribe = subscribe;
        table.cuptiUnsubscribe = unsubscribe;
        table.cuptiFinalize = finalize;
    }
};

bool CuptiV2::load(const Cupti& real) noexcept {
    // CUPTI itself loads the driver with its first call, so it stays mapped.
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (supported_cuda(driver) < cupti::kFirstDriverWithSubscribers) return false;
    std::uint32_t version = 0;
    if (real.cuptiGetVersion(&version) != kCuptiSuccess || version < cupti::kFirstWithSubscribers) return false;
    void* library = dlopen(real.path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    bool complete = true;
#define FUNCTION(result, name, arguments)                                \
    name = reinterpret_cast<result(*) arguments>(dlsym(library, #name)); \
    complete = complete && name != nullptr;
#include "collect/inject/cupti/cupti_v2_symbols.def"
#undef FUNCTION
    dlclose(library);  // it stays mapped: `real` holds it
    for (Cupti& table : tables_) table = real;
    V1Adapters<ClientId::ours>::fill(tables_[0]);
    V1Adapters<ClientId::other>::fill(tables_[1]);
    return complete;
}

int CuptiV2::subscribe(ClientId client, const char* name, ApiCallback callback) noexcept {
    bool first = client == ClientId::ours;
    SubscriberParams params{sizeof params,
                            name,
                            first ? holder_ : nullptr,
                            first ? sizeof holder_ : 0,
                            static_cast<std::uint8_t>(allows_others_),
                            {}};
    void* subscriber = nullptr;
    int code = cuptiSubscribe_v2(&subscriber, callback, nullptr, &params);
    if (code == kCuptiSuccess) of(client).handle.store(subscriber, std::memory_order_release);
    return code;
}

int CuptiV2::begin(bool allow_others) noexcept {
    allows_others_ = allow_others;
    int code = subscribe(ClientId::ours, "gpu-profile", V1Adapters<ClientId::ours>::call_back);
    holder_[sizeof holder_ - 1] = '\0';
    return code;
}

void CuptiV2::select_whole_graphs() noexcept { V1Adapters<ClientId::ours>::set(kWholeGraphs, std::uint8_t{1}); }

// Null asks for the kinds of all subscribers.
bool CuptiV2::anyone_wants(std::uint32_t kind) const noexcept {
    std::uint32_t kinds[128] = {}, size = sizeof kinds, count = 0;
    if (cuptiActivityGetEnabledKinds(nullptr, kinds, &size, &count) != kCuptiSuccess) return false;
    for (std::uint32_t each : kinds)
        if (each == kind) return true;
    return false;
}

// CUPTI puts "CUPTI for " in front of names.
const char* CuptiV2::holder() const noexcept {
    constexpr char kPrefix[] = "CUPTI for ";
    return std::strncmp(holder_, kPrefix, sizeof kPrefix - 1) == 0 ? holder_ + sizeof kPrefix - 1 : holder_;
}

bool CuptiV2::subscribed(ClientId client) const noexcept {
    return subscriptions_[static_cast<unsigned>(client)].handle.load(std::memory_order_acquire) != nullptr;
}

bool CuptiV2::is_of(ClientId client, const void* subscriber) const noexcept {
    return subscriber != nullptr &&
           subscriptions_[static_cast<unsigned>(client)].handle.load(std::memory_order_acquire) == subscriber;
}

// The subscription goes on for records.
void CuptiV2::end_callbacks(Subscription& of) noexcept {
    void* subscriber = of.handle.load(std::memory_order_acquire);
    for (std::uint32_t domain = 1; domain <= kDomains; ++domain) cuptiEnableDomain(0, subscriber, domain);
    of.callback.store(nullptr, std::memory_order_release);
}

}  // namespace gpuprof::inject
