// CUPTI's second interface (V2), in which a process has several subscribers, each with its own kinds, buffers, clock
// and drop counter. It works from CUPTI 13.3 with driver r610. The two interfaces exclude each other: the first one
// that a process uses holds until it ends, and the other answers 39 or 14. So it is decided once, before the first
// call (decision 0032).
//
// The rest of the collector, and clients that use the first interface, keep calling functions in the shape of V1: each
// of both has a table `Cupti` whose functions translate to V2 with that client's subscription. Clients that use V2
// themselves need nothing from us.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

enum class ClientId : unsigned { ours, other };

struct SubscriberParams {  // CUpti_SubscriberParams of 13.2 and later
    std::size_t bytes;
    const char* name;  // at most 53 bytes
    char* old_name;    // who has CUPTI, if the answer is 39; at least 64 bytes
    std::size_t old_name_bytes;
    std::uint8_t allow_others;  // the first subscriber's holds for the process
    std::uint8_t padding[7];
};
static_assert(sizeof(SubscriberParams) == 40);

// Attributes of subscribers, in place of functions of V1 (CUpti_ActivityAttribute).
enum V2Attribute : std::uint32_t {
    kHardwareTrace = 13,
    kAllocationSource = 14,
    kLatencyTimestamps = 15,
    kAllSyncRecords = 16,
    kEventDeviceTimestamps = 17,
    kLaunchAttributes = 18,
    kDeviceGraph = 19,
    kWholeGraphs = 20,
    kThreadIdType = 21,
    kTimestampCallback = 22,
};

using RequestBufferV2 = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void* about);
using CompleteBufferV2 = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid, void* about);

inline constexpr int kMultipleSubscribers = 39;

class CuptiV2 {
public:
    // Whether CUPTI and the driver have the interface; `real` has been loaded. Calls CUPTI only if the driver is new.
    bool load(const Cupti& real) noexcept;
    // Subscribes us. CUPTI's result; 39 if another tool does not allow others.
    int begin(bool allow_others) noexcept;
    // Records whole CUDA graphs, for all subscribers: nodes and graphs exclude each other. Before any kind is switched on.
    void select_whole_graphs() noexcept;
    // Whether any subscriber records this kind as a whole.
    bool anyone_wants(std::uint32_t kind) const noexcept;
    // The name of the tool that subscribed first, if that was not us; "" if it has none.
    const char* holder() const noexcept;

    // The functions of V1, for one client. The other client's subscription begins with its first call and ends when it
    // finalizes.
    const Cupti& table(ClientId client) const noexcept { return tables_[static_cast<unsigned>(client)]; }
    bool subscribed(ClientId client) const noexcept;
    bool is_of(ClientId client, const void* subscriber) const noexcept;
    // How often a client of V1 was given a subscription.
    std::uint32_t given() const noexcept { return given_.load(std::memory_order_relaxed); }
    // In a forked child: another parent thread may have held the lock.
    void forget_lock() noexcept { lock_ = PTHREAD_MUTEX_INITIALIZER; }

private:
    template <ClientId id>
    friend struct V1Adapters;
    struct Subscription {
        std::atomic<void*> handle{nullptr};
        std::atomic<RequestBuffer> request{nullptr};
        std::atomic<CompleteBuffer> complete{nullptr};
        std::atomic<ApiCallback> callback{nullptr};
        std::atomic<void*> data{nullptr};
    };
    Subscription& of(ClientId client) noexcept { return subscriptions_[static_cast<unsigned>(client)]; }
    int subscribe(ClientId client, const char* name, ApiCallback callback) noexcept;
    void end_callbacks(Subscription& of) noexcept;

#define FUNCTION(result, name, arguments) result(*name) arguments = nullptr;
#include "collect/inject/cupti/cupti_v2_symbols.def"
#undef FUNCTION
    Subscription subscriptions_[2];
    Cupti tables_[2];
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of the other client's subscription
    std::atomic<std::uint32_t> given_{0};
    bool allows_others_ = false;
    char holder_[64] = {};
};

CuptiV2& cupti_v2() noexcept;

}  // namespace gpuprof::inject
