#include "collect/inject/cupti_multiplexer.h"

#include <sched.h>

#include "collect/inject/switch_lock.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint32_t kDriverKind = static_cast<std::uint32_t>(cupti::Kind::driver),
                        kRuntimeKind = static_cast<std::uint32_t>(cupti::Kind::runtime);
constexpr int kInvalidKind = 21, kInvalidParameter = 1, kNotInitialized = 15;

enum Loading : int { kNotLoaded, kLoading, kLoaded };

constinit CuptiMultiplexer multiplexer;

}  // namespace

CuptiMultiplexer& cupti_multiplexer() noexcept { return multiplexer; }

const Cupti* CuptiMultiplexer::cupti() noexcept {
    int state = kNotLoaded;
    if (loading_.compare_exchange_strong(state, kLoading)) {
        found_ = cupti_.load(named_);
        loading_.store(kLoaded, std::memory_order_release);
    }
    while (loading_.load(std::memory_order_acquire) != kLoaded) sched_yield();
    return found_ ? &cupti_ : nullptr;
}

void CuptiMultiplexer::forget_loading() noexcept {
    int state = kLoading;
    loading_.compare_exchange_strong(state, kNotLoaded);
    lock_ = PTHREAD_MUTEX_INITIALIZER;
}

std::uint32_t CuptiMultiplexer::kind_of(std::uint32_t domain) noexcept {
    return domain == kDriverDomain ? kDriverKind : kRuntimeKind;
}

CuptiMultiplexer::Request CuptiMultiplexer::request_of(ClientId client, std::uint32_t kind,
                                                       std::uint32_t cbid) const noexcept {
    if ((kind != kDriverKind && kind != kRuntimeKind) || cbid >= kFunctions) return unspecified;
    return Request{
        functions_[static_cast<unsigned>(client)][kind == kRuntimeKind][cbid].load(std::memory_order_acquire)};
}

bool CuptiMultiplexer::wants(ClientId client, std::uint32_t kind, std::uint32_t cbid) const noexcept {
    if (kind >= kKinds) return false;
    Request request = request_of(client, kind, cbid);
    bool whole = kinds_[static_cast<unsigned>(client)][kind].load(std::memory_order_acquire);
    return request == wanted || (whole && request != unwanted);
}

bool CuptiMultiplexer::excludes(ClientId client, std::uint32_t kind, std::uint32_t cbid) const noexcept {
    return request_of(client, kind, cbid) == unwanted;
}

bool CuptiMultiplexer::anyone_wants(std::uint32_t kind, std::uint32_t cbid) const noexcept {
    return wants(ClientId::ours, kind, cbid) || wants(ClientId::other, kind, cbid);
}

bool CuptiMultiplexer::anyone_wants_kind(std::uint32_t kind) const noexcept {
    return kinds_[0][kind].load() || kinds_[1][kind].load();
}

bool CuptiMultiplexer::wants_anything(ClientId client) const noexcept {
    auto index = static_cast<unsigned>(client);
    for (const auto& kind : kinds_[index])
        if (kind.load(std::memory_order_relaxed)) return true;
    for (const auto& domain : functions_[index])
        for (const auto& request : domain)
            if (request.load(std::memory_order_relaxed) == wanted) return true;
    return false;
}

int CuptiMultiplexer::set_kind(ClientId client, std::uint32_t kind, bool on) noexcept {
    const Cupti* real = cupti();
    if (real == nullptr) return kNotInitialized;
    if (kind >= kKinds) return kInvalidKind;
    std::atomic<bool>& request = kinds_[static_cast<unsigned>(client)][kind];
    bool had = request.exchange(on);
    if (int code = apply_kind(*real, kind); code != kCuptiSuccess) {
        request.store(had);
        return code;
    }
    if (kind == kDriverKind) apply_functions(kDriverDomain);
    if (kind == kRuntimeKind) apply_functions(kRuntimeDomain);
    return kCuptiSuccess;
}

// Aligns CUPTI with the combined requests, whichever client changed its own last.
int CuptiMultiplexer::apply_kind(const Cupti& real, std::uint32_t kind) noexcept {
    SwitchLock turn(lock_);
    bool on = anyone_wants_kind(kind);
    if (on == on_[kind].load(std::memory_order_relaxed)) return kCuptiSuccess;
    int code = kCuptiSuccess;
    if (on)
        code = real.cuptiActivityEnable(kind);
    else if (real.cuptiActivityDisable != nullptr)
        code = real.cuptiActivityDisable(kind);
    if (code == kCuptiSuccess) on_[kind].store(on, std::memory_order_relaxed);
    return code;
}

int CuptiMultiplexer::set_function(ClientId client, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    if (cupti() == nullptr) return kNotInitialized;
    if (cbid >= kFunctions) return kInvalidParameter;
    std::atomic<std::uint8_t>& request = functions_[static_cast<unsigned>(client)][domain == kRuntimeDomain][cbid];
    std::uint8_t had = request.exchange(on ? wanted : unwanted);
    SwitchLock turn(lock_);
    int code = apply_function(domain, cbid, anyone_wants(kind_of(domain), cbid));
    if (code != kCuptiSuccess) request.store(had, std::memory_order_relaxed);
    return code;
}

int CuptiMultiplexer::apply_function(std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    auto* enable = domain == kDriverDomain ? cupti_.cuptiActivityEnableDriverApi : cupti_.cuptiActivityEnableRuntimeApi;
    return enable != nullptr ? enable(cbid, on ? 1 : 0) : kNotInitialized;
}

// After a whole kind was switched, the settings of single functions are applied again.
void CuptiMultiplexer::apply_functions(std::uint32_t domain) noexcept {
    SwitchLock turn(lock_);
    std::uint32_t kind = kind_of(domain);
    bool whole = anyone_wants_kind(kind);
    for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid) {
        bool said = functions_[0][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unspecified ||
                    functions_[1][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unspecified;
        if (said && anyone_wants(kind, cbid) != whole) apply_function(domain, cbid, !whole);
    }
}

void CuptiMultiplexer::withdraw(ClientId client) noexcept {
    auto index = static_cast<unsigned>(client);
    for (std::uint32_t kind = 1; kind < kKinds; ++kind)
        if (kinds_[index][kind].load(std::memory_order_relaxed)) set_kind(client, kind, false);
    for (std::uint32_t domain : {kDriverDomain, kRuntimeDomain})
        for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid)
            if (functions_[index][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) == wanted)
                set_function(client, domain, cbid, false);
    for (auto& domain : functions_[index])
        for (auto& request : domain) request.store(unspecified, std::memory_order_relaxed);
}

std::uint64_t CuptiMultiplexer::take_dropped(ClientId client) noexcept {
    std::size_t dropped = 0;
    const Cupti* real = cupti();
    if (real != nullptr && real->cuptiActivityGetNumDroppedRecords != nullptr)
        real->cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    for (auto& each : dropped_) each.fetch_add(dropped, std::memory_order_relaxed);
    return dropped_[static_cast<unsigned>(client)].exchange(0, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
