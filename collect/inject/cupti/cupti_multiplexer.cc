#include "collect/inject/cupti/cupti_multiplexer.h"

#include <sched.h>

#include <cstdlib>
#include <initializer_list>

#include "collect/inject/collector.h"
#include "collect/inject/counters/counter_collector.h"
#include "collect/inject/counters/stall_collector.h"
#include "collect/inject/switch_lock.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint32_t kDriverKind = static_cast<std::uint32_t>(cupti::Kind::driver),
                        kRuntimeKind = static_cast<std::uint32_t>(cupti::Kind::runtime);

enum Step : int { kNotDone, kDoing, kDone };
// On the first thread that comes; others wait for it.
template <class Action>
void once(std::atomic<int>& step, Action&& action) noexcept {
    int state = kNotDone;
    if (step.compare_exchange_strong(state, kDoing)) {
        action();
        step.store(kDone, std::memory_order_release);
    }
    while (step.load(std::memory_order_acquire) != kDone) sched_yield();
}

constinit CuptiMultiplexer multiplexer;

}  // namespace

CuptiMultiplexer& cupti_multiplexer() noexcept { return multiplexer; }

const Cupti* CuptiMultiplexer::real() noexcept {
    once(loading_, [this] { found_ = cupti_.load(named_); });
    return found_ ? &cupti_ : nullptr;
}

const Cupti* CuptiMultiplexer::next_library() noexcept {
    if (separate() || cupti_.was_mapped || wants_anything(ClientId::other) || !refused_.add(cupti_.path))
        return nullptr;
    Cupti next;
    if (!next.load(named_, refused_)) return nullptr;
    cupti_ = next;
    return &cupti_;
}

const Cupti* CuptiMultiplexer::cupti(ClientId client) noexcept {
    if (real() == nullptr) return nullptr;
    once(deciding_, [this] { decide_interface(); });
    return separate() ? &cupti_v2().table(client) : &cupti_;
}

// One call of V1, or one subscription of V2, decides for the life of the process. Counters of kernels and samples
// of warps need V1: several subscribers are for records only.
void CuptiMultiplexer::decide_interface() noexcept {
    const char* only_first = std::getenv("GPUPROF_CUPTI_V1");
    if (only_first != nullptr && only_first[0] == '1') return;
    if (!will_record_device() || counters_planned() || stalls_wanted() || !cupti_v2().load(cupti_)) return;
    int code = cupti_v2().begin(settings().cupti != CuptiPolicy::own);
    refusal_.store(code == kMultipleSubscribers ? code : kCuptiSuccess, std::memory_order_release);
    if (code != kCuptiSuccess) return;
    if (settings().graph == GraphDetail::graph) cupti_v2().select_whole_graphs();
    interface_.store(Interface::v2, std::memory_order_release);
}

void CuptiMultiplexer::forget_loading() noexcept {
    for (std::atomic<int>* step : {&loading_, &deciding_}) {
        int state = kDoing;
        step->compare_exchange_strong(state, kNotDone);
    }
    lock_ = PTHREAD_MUTEX_INITIALIZER;
    cupti_v2().forget_lock();
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
    if (real == nullptr) return kCuptiNotInitialized;
    if (kind >= kKinds) return kCuptiInvalidKind;
    if (separate()) return set_own_kind(client, kind, on);
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

int CuptiMultiplexer::set_own_kind(ClientId client, std::uint32_t kind, bool on) noexcept {
    const Cupti& table = cupti_v2().table(client);
    std::atomic<bool>& request = kinds_[static_cast<unsigned>(client)][kind];
    SwitchLock turn(lock_);
    bool had = request.exchange(on);
    int code = on ? table.cuptiActivityEnable(kind) : table.cuptiActivityDisable(kind);
    if (code != kCuptiSuccess) request.store(had);
    return code;
}

// Aligns CUPTI with the combined requests, whichever client changed its own last.
int CuptiMultiplexer::apply_kind(const Cupti& real, std::uint32_t kind) noexcept {
    SwitchLock turn(lock_);
    bool on = anyone_wants_kind(kind);
    // What nobody has on may be switched off again: CUPTI then answers as it does without us.
    if (on && on_[kind].load(std::memory_order_relaxed)) return kCuptiSuccess;
    int code = kCuptiSuccess;
    if (on)
        code = real.cuptiActivityEnable(kind);
    else if (real.cuptiActivityDisable != nullptr)
        code = real.cuptiActivityDisable(kind);
    if (code == kCuptiSuccess) on_[kind].store(on, std::memory_order_relaxed);
    return code;
}

int CuptiMultiplexer::set_function(ClientId client, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    const Cupti* table = cupti(client);
    if (table == nullptr) return kCuptiNotInitialized;
    if (cbid >= kFunctions) return kCuptiInvalidParameter;
    std::atomic<std::uint8_t>& request = functions_[static_cast<unsigned>(client)][domain == kRuntimeDomain][cbid];
    std::uint8_t had = request.exchange(on ? wanted : unwanted);
    SwitchLock turn(lock_);
    int code = apply_function(*table, domain, cbid, separate() ? on : anyone_wants(kind_of(domain), cbid));
    if (code != kCuptiSuccess) request.store(had, std::memory_order_relaxed);
    return code;
}

int CuptiMultiplexer::apply_function(const Cupti& real, std::uint32_t domain, std::uint32_t cbid, bool on) noexcept {
    auto* enable = domain == kDriverDomain ? real.cuptiActivityEnableDriverApi : real.cuptiActivityEnableRuntimeApi;
    return enable != nullptr ? enable(cbid, on ? 1 : 0) : kCuptiNotInitialized;
}

// After a whole kind was switched, the settings of single functions are applied again.
void CuptiMultiplexer::apply_functions(std::uint32_t domain) noexcept {
    SwitchLock turn(lock_);
    std::uint32_t kind = kind_of(domain);
    bool whole = anyone_wants_kind(kind);
    for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid) {
        bool said = functions_[0][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unspecified ||
                    functions_[1][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) != unspecified;
        if (said && anyone_wants(kind, cbid) != whole) apply_function(cupti_, domain, cbid, !whole);
    }
}

void CuptiMultiplexer::dump(ClientId client, std::uint32_t kind) noexcept {
    const Cupti* table = cupti(client);
    if (table == nullptr || table->cuptiActivityEnableAndDump == nullptr) return;
    SwitchLock turn(lock_);
    table->cuptiActivityEnableAndDump(kind);
}

void CuptiMultiplexer::withdraw(ClientId client, std::uint32_t except) noexcept {
    auto index = static_cast<unsigned>(client);
    for (std::uint32_t kind = 1; kind < kKinds; ++kind)
        if (kind != except && kinds_[index][kind].load(std::memory_order_relaxed)) set_kind(client, kind, false);
    for (std::uint32_t domain : {kDriverDomain, kRuntimeDomain})
        for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid)
            if (functions_[index][domain == kRuntimeDomain][cbid].load(std::memory_order_relaxed) == wanted)
                set_function(client, domain, cbid, false);
    for (auto& domain : functions_[index])
        for (auto& request : domain) request.store(unspecified, std::memory_order_relaxed);
}

std::uint64_t CuptiMultiplexer::take_dropped(ClientId client) noexcept {
    std::size_t dropped = 0;
    const Cupti* real = cupti(client);
    if (real != nullptr && real->cuptiActivityGetNumDroppedRecords != nullptr)
        real->cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    if (separate()) return dropped;
    for (auto& each : dropped_) each.fetch_add(dropped, std::memory_order_relaxed);
    return dropped_[static_cast<unsigned>(client)].exchange(0, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
