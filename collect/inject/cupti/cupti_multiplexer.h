// The CUPTI requests of this process. If CUPTI allows several subscribers (cupti_v2.h), each client's go to its own
// subscription. Otherwise this combines them: the process has one CUPTI, with one set of active kinds and one pair of buffer
// functions, but possibly two clients:
// us, and another one (torch.profiler's Kineto, Proton, ...), whose calls arrive here because this library is preloaded
// and exports the same names (exports.cc). The multiplexer keeps both clients' requests and passes on only what changes
// for CUPTI, so that neither client can switch the other off.
// No lock is held while a client is called, nor during a CUPTI call that may call one. Everything is
// constant-initialised: calls may arrive before any constructor has run.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_v2.h"

namespace gpuprof::inject {

class CuptiMultiplexer {
public:
    static constexpr std::uint32_t kKinds = 64, kFunctions = 2048;

    // CUPTI's functions for one client, loaded at the first call, which also decides on the interface. Null without
    // CUPTI.
    const Cupti* cupti(ClientId client = ClientId::ours) noexcept;
    // The next library that can be found, because this one does not work with the driver. Null, and no change: there is
    // none, or the program uses this one too. Within cuInit only.
    const Cupti* next_library() noexcept;
    // CUPTI's own functions, without deciding on the interface.
    const Cupti* real() noexcept;
    // Whether each client has a subscription of its own.
    bool separate() const noexcept { return interface_.load(std::memory_order_acquire) == Interface::v2; }
    // What CUPTI answered when it refused us a subscription of V2, or success.
    int refusal() const noexcept { return refusal_.load(std::memory_order_acquire); }
    // In a forked child: another parent thread may have been loading it.
    void forget_loading() noexcept;
    // The library to use unless one is mapped; set before the first call.
    void name_library(const char* path) noexcept { named_ = path; }

    // The results of cuptiActivityEnable / Disable.
    int set_kind(ClientId client, std::uint32_t kind, bool on) noexcept;
    // The results of cuptiActivityEnableRuntimeApi / DriverApi. Overrules the kind for one function.
    int set_function(ClientId client, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept;
    // Asks for records of what there is already, of a kind that is on.
    void dump(ClientId client, std::uint32_t kind) noexcept;
    // Drops all requests of one client, but for one kind.
    void withdraw(ClientId client, std::uint32_t except = 0) noexcept;

    bool wants(ClientId client, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    // Whether it has switched this function off, regardless of the kind.
    bool excludes(ClientId client, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool wants_anything(ClientId client) const noexcept;
    // Losses of both clients, because CUPTI's counter resets at each reading; returns one client's since its last call.
    std::uint64_t take_dropped(ClientId client) noexcept;

private:
    enum Request : std::uint8_t { unspecified, unwanted, wanted };
    static constexpr unsigned kClients = 2;
    static std::uint32_t kind_of(std::uint32_t domain) noexcept;
    Request request_of(ClientId client, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool anyone_wants(std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool anyone_wants_kind(std::uint32_t kind) const noexcept;
    void decide_interface() noexcept;
    int set_own_kind(ClientId client, std::uint32_t kind, bool on) noexcept;
    int apply_kind(const Cupti& real, std::uint32_t kind) noexcept;
    int apply_function(const Cupti& real, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept;
    void apply_functions(std::uint32_t domain) noexcept;

    std::atomic<bool> kinds_[kClients][kKinds] = {};
    std::atomic<bool> on_[kKinds] = {};                                  // in CUPTI
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;                   // for switching
    std::atomic<std::uint8_t> functions_[kClients][2][kFunctions] = {};  // by domain: driver, runtime
    std::atomic<std::uint64_t> dropped_[kClients] = {};
    enum class Interface : int { v1, v2 };
    std::atomic<Interface> interface_{Interface::v1};
    std::atomic<int> refusal_{kCuptiSuccess};
    std::atomic<int> loading_{0}, deciding_{0};
    bool found_ = false;
    RefusedLibraries refused_;
    const char* named_ = nullptr;
    Cupti cupti_;
};

// The one of this process.
CuptiMultiplexer& cupti_multiplexer() noexcept;

}  // namespace gpuprof::inject
