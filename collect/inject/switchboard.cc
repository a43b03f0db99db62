#include "collect/inject/switchboard.h"

#include <sched.h>
#include <time.h>

#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint32_t kDriverKind = static_cast<std::uint32_t>(cupti::Kind::driver),
                        kRuntimeKind = static_cast<std::uint32_t>(cupti::Kind::runtime);
constexpr int kInvalidKind = 21, kInvalidParameter = 1, kNotInitialized = 15;

enum Loading : int { kNot, kLoading, kLoaded };

constinit Switchboard board;

// Serialises the threads of both clients: CUPTI requires that switching is not concurrent. The lock is held during
// calls of CUPTI, whose callbacks never take the lock. If such a call never returns, the other client waits for a
// second and then proceeds.
class Turn {
public:
    explicit Turn(pthread_mutex_t& lock) noexcept : lock_(lock) {
        timespec until{};
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        held_ = pthread_mutex_timedlock(&lock_, &until) == 0;
    }
    ~Turn() {
        if (held_) pthread_mutex_unlock(&lock_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    pthread_mutex_t& lock_;
    bool held_ = false;
};

}  // namespace

Switchboard& switchboard() noexcept { return board; }

const Cupti* Switchboard::cupti() noexcept {
    int state = kNot;
    if (loading_.compare_exchange_strong(state, kLoading)) {
        found_ = cupti_.load(named_);
        loading_.store(kLoaded, std::memory_order_release);
    }
    while (loading_.load(std::memory_order_acquire) != kLoaded) sched_yield();
    return found_ ? &cupti_ : nullptr;
}

void Switchboard::forget_loading() noexcept {
    int state = kLoading;
    loading_.compare_exchange_strong(state, kNot);
    lock_ = PTHREAD_MUTEX_INITIALIZER;
}

std::uint32_t Switchboard::kind_of(std::uint32_t domain) noexcept {
    return domain == kDriverDomain ? kDriverKind : kRuntimeKind;
}

Switchboard::Request Switchboard::request_of(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept {
    if ((kind != kDriverKind && kind != kRuntimeKind) || cbid >= kFunctions) return unsaid;
    return Request{functions_[static_cast<unsigned>(who)][kind == kRuntimeKind][cbid].load(std::memory_order_acquire)};
}

bool Switchboard::wants(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept {
    if (kind >= kKinds) return false;
    Request request = request_of(who, kind, cbid);
    bool whole = kinds_[static_cast<unsigned>(who)][kind].load(std::memory_order_acquire);
    return request == wanted || (whole && request != unwanted);
}

bool Switchboard::leaves_out(Who who, std::uint32_t kind, std::uint32_t cbid) const noexcept {
    return request_of(who, kind, cbid) == unwanted;
}

bool Switchboard::anyone_wants(std::uint32_t kind, std::uint32_t cbid) const noexcept {
    return wants(Who::ours, kind, cbid) || wants(Who::other, kind, cbid);
}

bool Switchboard::anyone_wants_kind(std::uint32_t kind) const noexcept {
    return kinds_[0][kind].load() || kinds_[1][kind].load();
}

bool Switchboard::wants_anything(Who who) const noexcept {
    auto client = static_cast<unsigned>(who);
    for (const auto& kind : kinds_[client])
        if (kind.load(std::memory_order_relaxed)) return true;
    for (const auto& domain : functions_[client])
        for (const auto& request : domain)
            if (request.load(std::memory_order_relaxed) == wanted) return true;
    return false;
}

int Switchboard::set_kind(Who who, std::uint32_t kind, bool on) noexcept {
    const Cupti* real = cupti();
    if (real == nullptr) return kNotInitialized;
    if (kind >= kKinds) return kInvalidKind;
    std::atomic<bool>& request = kinds_[static_cast<unsigned>(who)][kind];
    bool had = request.exchange(on);
    if (int code = settle_kind(*real, kind); code != kCuptiSuccess) {
        request.store(had);
        return code;
    }
    if (kind == kDriverKind) tell_functions(kDriverDomain);
    if (kind == kRuntimeKind) tell_functions(kRuntimeDomain);
    return kCuptiSuccess;
}

// Aligns CUPTI with the combined requests, whichever client changed its own last.
int Switchboard::settle_kind(const Cupti& real, std::uint32_t kind) noexcept {
    Turn turn(lock_);
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

int Switchboard::set_function(Who who, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    if (cupti() == nullptr) return kNotInitialized;
    if (cbid >= kFunctions) return kInvalidParameter;
    std::atomic<std::uint8_t>& request = functions_[static_cast<unsigned>(who)][domain == kRuntimeDomain][cbid];
    std::uint8_t had = request.exchange(on ? wanted : unwanted);
    Turn turn(lock_);
    int code = tell_function(domain, cbid, anyone_wants(kind_of(domain), cbid));
    if (code != kCuptiSuccess) request.store(had, std::memory_order_relaxed);
    return code;
}

int Switchboard::tell_function(std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    auto* enable = domain == kDriverDomain ? cupti_.cuptiActivityEnableDriverApi : cupti_.cuptiActivityEnableRuntimeApi;
    return enable != nullptr ? enable(cbid, on ? 1 : 0) : kNotInitialized;
}

// After a whole kind was switched, the settings of single functions are applied again.
void Switchboard::tell_functions(std::uint32_t domain) noexcept {
    Turn turn(lock_);
    std::uint32_t kind = kind_of(domain);
    bool whole = anyone_wants_kind(kind);
    for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid) {
        bool said = functions_[0][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unsaid ||
                    functions_[1][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unsaid;
        if (said && anyone_wants(kind, cbid) != whole) tell_function(domain, cbid, !whole);
    }
}

void Switchboard::withdraw(Who who) noexcept {
    auto client = static_cast<unsigned>(who);
    for (std::uint32_t kind = 1; kind < kKinds; ++kind)
        if (kinds_[client][kind].load(std::memory_order_relaxed)) set_kind(who, kind, false);
    for (std::uint32_t domain : {kDriverDomain, kRuntimeDomain})
        for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid)
            if (functions_[client][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) == wanted)
                set_function(who, domain, cbid, false);
    for (auto& domain : functions_[client])
        for (auto& request : domain) request.store(unsaid, std::memory_order_relaxed);
}

std::uint64_t Switchboard::take_dropped(Who who) noexcept {
    std::size_t dropped = 0;
    const Cupti* real = cupti();
    if (real != nullptr && real->cuptiActivityGetNumDroppedRecords != nullptr)
        real->cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    for (auto& each : dropped_) each.fetch_add(dropped, std::memory_order_relaxed);
    return dropped_[static_cast<unsigned>(who)].exchange(0, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
