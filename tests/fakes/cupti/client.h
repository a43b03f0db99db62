// What each client has asked the fake libcupti for: kinds of records, single API functions, callbacks, a clock, external ids.
// The first is the one of CUPTI's first interface (V1); the others are subscribers of the second (V2), several at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/cupti/delivery.h"

namespace fake_cupti {

using Callback = void (*)(void* data, std::uint32_t domain, std::uint32_t cbid, const void* about);
using Clock = std::uint64_t (*)();

constexpr std::uint32_t kKinds = 64, kFunctions = 2048;
enum : std::uint32_t { kDriverDomain = 1, kRuntimeDomain = 2, kResourceDomain = 3 };  // CUpti_CallbackDomain
enum : std::uint32_t { kEnter = 0, kExit = 1 };                                       // CUpti_ApiCallbackSite

// Of one API function: nothing said, or switched by cuptiActivityEnableRuntimeApi / DriverApi.
enum Request : std::uint8_t { kUnspecified, kUnwanted, kWanted };

struct Client {
    Channel channel;
    std::array<std::atomic<bool>, kKinds> kinds{};
    std::array<std::array<std::atomic<std::uint8_t>, kFunctions>, 3> functions{};  // by domain
    std::atomic<std::uint32_t> thread_id_type{0};                                  // 1: of the system
    std::atomic<Clock> clock{nullptr};
    std::atomic<std::uint64_t> clock_since_ns{0}, clock_since_ticks{0};  // when the clock was registered, by both

    std::atomic<int> switching{0};  // threads that change what it records

    std::mutex lock;  // of the rest
    Callback callback = nullptr;
    void* callback_data = nullptr;
    std::string subscriber;
    bool subscribed = false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks;  // domain, cbid; cbid ~0: all of the domain
    std::atomic<bool> calls_back{false};                          // whether there are any; changed under the lock
    std::map<std::uint32_t, std::vector<unsigned char>> attributes;
};
constexpr std::size_t kClients = 8;
std::array<Client, kClients>& clients();
inline Client& client() { return clients()[0]; }  // of V1

// While one lives the calling thread is in a function of the client, where few functions of CUPTI may be called.
class InClient {
public:
    enum What { kNowhere, kCallback, kResourceCallback, kBufferFunction };
    explicit InClient(What what);
    ~InClient();
    InClient(const InClient&) = delete;
    static What now();

private:
    What before_;
};

bool wants(const Client& client, std::uint32_t kind, std::uint32_t cbid);
// Calls the subscribers that asked for this one.
void call_back(std::uint32_t domain, std::uint32_t cbid, const void* about);
// One call of an API function, as its callbacks see it.
struct ApiCall {
    std::uint32_t domain = 0, cbid = 0, correlation = 0;
    const void* arguments = nullptr;
    int result = 0;
    std::array<std::uint64_t, kClients> kept{};
    const char* symbol = nullptr;  // of a launched kernel
};
void call_back_api(ApiCall& call, std::uint32_t site);
const char* function_name(std::uint32_t domain, std::uint32_t cbid);  // null: unknown
std::uint32_t function_id(std::uint32_t domain, const char* name);    // 0: unknown

// External ids that the calling thread pushed: kind, ids; by client.
using ExternalIds = std::map<std::uint32_t, std::vector<std::uint64_t>>;
std::array<ExternalIds, kClients>& external_ids();

extern std::atomic<bool> driver_started;            // cuInit of the fake libcuda has run
std::uint64_t now_ns();                             // CLOCK_REALTIME
std::uint64_t thread_number(const Client& client);  // as it wants it

}  // namespace fake_cupti
