#include "tests/fakes/cupti/client.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/interface.h"

namespace fake_cupti {

std::array<Client, kClients>& clients() {
    static auto& made = *new std::array<Client, kClients>;
    return made;
}

namespace {
thread_local InClient::What in_client = InClient::kNowhere;
}

InClient::InClient(What what) : before_(in_client) { in_client = what; }
InClient::~InClient() { in_client = before_; }
InClient::What InClient::now() { return in_client; }

bool wants(const Client& client, std::uint32_t kind, std::uint32_t cbid) {
    if (kind >= kKinds) return false;
    if (kind == kDeviceGraph) kind = kGraphTrace;  // as if the program had called cuptiActivityEnableDeviceGraph
    bool whole_kind = client.kinds[kind].load(std::memory_order_relaxed);
    if (kind != kDriver && kind != kRuntime) return whole_kind;
    std::uint32_t domain = kind == std::uint32_t{kDriver} ? kDriverDomain : kRuntimeDomain;
    std::uint8_t request =
        cbid < kFunctions ? client.functions[domain][cbid].load(std::memory_order_relaxed) : std::uint8_t{kUnspecified};
    return request == kWanted || (whole_kind && request != kUnwanted);
}

namespace {

void call_back(Client& client, std::uint32_t domain, std::uint32_t cbid, const void* about) {
    Callback callback = nullptr;
    void* data = nullptr;
    if (!client.calls_back) return;
    {
        std::lock_guard<std::mutex> held(client.lock);
        if (client.callbacks.count({domain, cbid}) + client.callbacks.count({domain, ~0u}) == 0) return;
        callback = client.callback;
        data = client.callback_data;
    }
    AmongCallbacks locked;
    InClient within(domain == kResourceDomain ? InClient::kResourceCallback : InClient::kCallback);
    if (callback != nullptr) callback(data, domain, cbid, about);
}

}  // namespace

void call_back(std::uint32_t domain, std::uint32_t cbid, const void* about) {
    for (Client& each : clients()) call_back(each, domain, cbid, about);
}

void call_back_api(ApiCall& call, std::uint32_t site) {
    bool exit = site == kExit;
    for (std::size_t i = 0; i < kClients; ++i) {
        // CUpti_CallbackData of cupti_callbacks.h.
        struct {
            std::uint32_t site;
            const char* function;
            const void* parameters;
            void* result;
            const char* symbol;
            void* context;
            std::uint32_t context_id;
            std::uint64_t* kept;
            std::uint32_t correlation;
        } about{site,
                function_name(call.domain, call.cbid),
                call.arguments,
                exit ? &call.result : nullptr,
                call.symbol,
                &client(),  // any pointer that is not null
                1,
                &call.kept[i],
                call.correlation};
        call_back(clients()[i], call.domain, call.cbid, &about);
    }
}

namespace {
struct Function {
    std::uint32_t domain, cbid;
    const char* name;
};
#define FUNCTION(domain, cbid, name) {domain, cbid, name},
constexpr Function kTable[] = {
#include "tests/fakes/cupti/functions.def"
};
#undef FUNCTION
}  // namespace

constexpr std::uint32_t kFirstWithRecapture = 130400;

const char* function_name(std::uint32_t domain, std::uint32_t cbid) {
    for (const Function& function : kTable)
        if (function.domain == domain && function.cbid == cbid)
            return version_now() < kFirstWithRecapture && std::strstr(function.name, "Recapture") ? nullptr
                                                                                                  : function.name;
    return nullptr;
}

std::uint32_t function_id(std::uint32_t domain, const char* name) {
    for (const Function& function : kTable)
        if (function.domain == domain && std::strcmp(function.name, name) == 0) return function.cbid;
    return 0;
}

std::array<ExternalIds, kClients>& external_ids() {
    thread_local std::array<ExternalIds, kClients> ids;
    return ids;
}

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t thread_number(const Client& client) {
    if (client.thread_id_type.load() == 1) return static_cast<std::uint64_t>(syscall(SYS_gettid));
    return static_cast<std::uint64_t>(pthread_self()) & 0xffffffffu;  // CUPTI cuts it to 32 bits
}

}  // namespace fake_cupti
