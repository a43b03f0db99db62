// Who wants what from CUPTI. A process has one CUPTI with one set of kinds that are switched on and one pair of buffer
// functions, but it may have two clients: us, and another (torch.profiler's Kineto, Proton, ...), whose calls arrive here because this
// library is preloaded and exports the same names (exports.cc). The switchboard keeps both clients' wishes and passes on
// only what changes for CUPTI, so that neither client can switch the other off.
// No lock is held while a client is called, nor while CUPTI is asked for what may call one. Everything is constant-initialised: calls may come before any
// constructor has run.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/cupti_api.h"

namespace gpuprof::inject {

enum class Who : unsigned { ours, other };

class Switchboard {
public:
    static constexpr std::uint32_t kKinds = 64, kFunctions = 2048;

    // CUPTI's own functions; loads them at the first call. Null when there is no CUPTI.
    const Cupti* cupti() noexcept;
    // In a child of fork(): another thread of the parent may have been loading it.
    void forget_loading() noexcept;
    // The library to use when none is mapped; to be set before the first call.
    void name_library(const char* path) noexcept { named_ = path; }

    // What cuptiActivityEnable / Disable answer.
    int set_kind(Who who, std::uint32_t kind, bool on) noexcept;
    // What cuptiActivityEnableRuntimeApi / DriverApi answer. Overrules the kind for one function.
    int set_function(Who who, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept;
    // All of one client's wishes end.
    void withdraw(Who who) noexcept;

    bool wants(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    // Whether it has switched this function off, whatever it wants of the kind.
    bool leaves_out(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool wants_anything(Who who) const noexcept;
    // Ours and others' losses, as CUPTI's counter starts again at each reading; one client's since it asked last.
    std::uint64_t take_dropped(Who who) noexcept;

private:
    enum Wish : std::uint8_t { unsaid, unwanted, wanted };
    static constexpr unsigned kClients = 2;
    static std::uint32_t kind_of(std::uint32_t domain) noexcept;
    Wish wish_of(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool anyone_wants(std::uint32_t kind, std::uint32_t cbid) const noexcept;
    bool anyone_wants_kind(std::uint32_t kind) const noexcept;
    int settle_kind(const Cupti& real, std::uint32_t kind) noexcept;
    int tell_function(std::uint32_t domain, std::uint32_t cbid, bool on) noexcept;
    void tell_functions(std::uint32_t domain) noexcept;

    std::atomic<bool> kinds_[kClients][kKinds] = {};
    std::atomic<bool> on_[kKinds] = {};                                  // in CUPTI
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;                   // of switching
    std::atomic<std::uint8_t> functions_[kClients][2][kFunctions] = {};  // by domain: driver, runtime
    std::atomic<std::uint64_t> dropped_[kClients] = {};
    std::atomic<int> loading_{0};
    bool found_ = false;
    const char* named_ = nullptr;
    Cupti cupti_;
};

// The one of this process.
Switchboard& switchboard() noexcept;

}  // namespace gpuprof::inject
