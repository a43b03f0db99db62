#include "collect/inject/counters/stall_collector.h"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "collect/inject/collector.h"
#include "collect/inject/counters/counter_launch.h"
#include "collect/inject/counters/counter_sessions.h"
#include "collect/inject/counters/counter_spool.h"
#include "collect/inject/counters/stall_session.h"
#include "collect/inject/cupti/cupti_codes.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/overhead_timer.h"
#include "core/base/clock.h"
#include "core/base/ids.h"

namespace gpuprof::inject {
namespace {

using pcs::Resource;

constexpr std::size_t kMaxSampledContexts = 64, kMaxReads = 4096;
constexpr std::int64_t kSpan = 10 * kSecond, kPatience = 2 * kSecond;

enum Due : int { kNothing, kNextSpan, kNextWindow };

// Of the whole process; never destroyed.
struct StallState {
    const Cupti* cupti = nullptr;
    std::uint32_t version = 0, period = 0;
    Driver driver;
    StallSpool spool;
    std::atomic<bool> active{false};
    std::atomic<std::int64_t> read_at{0};  // end of the last span, CLOCK_MONOTONIC
    std::atomic<int> due{kNothing};        // at the next launch
    std::atomic<bool> window_open{false};
    bool refused = false;  // no context will be sampled; with `lock`, as what follows
    std::uint32_t idle_contexts = 0;
    StallSession sessions[kMaxSampledContexts];
    Scratch payload;
    SampledNames names;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
};
std::atomic<StallState*> stall_state{nullptr};

StallState* active_state() noexcept {
    StallState* s = stall_state.load(std::memory_order_acquire);
    return s != nullptr && s->active.load(std::memory_order_acquire) ? s : nullptr;
}

// The threads of the program may hold locks of the driver, which the spool thread needs in CUPTI at the end, so no thread waits
// forever.
class Turn {
public:
    explicit Turn(StallState& state, std::int64_t patience = kPatience) noexcept : lock_(state.lock) {
        std::int64_t until = monotonic_ns() + patience;
        for (held_ = pthread_mutex_trylock(&lock_) == 0; !held_ && monotonic_ns() < until;) {
            constexpr timespec kPause{0, 50'000};
            nanosleep(&kPause, nullptr);
            held_ = pthread_mutex_trylock(&lock_) == 0;
        }
    }
    ~Turn() {
        if (held_) pthread_mutex_unlock(&lock_);
    }
    Turn(const Turn&) = delete;
    explicit operator bool() const noexcept { return held_; }

private:
    pthread_mutex_t& lock_;
    bool held_ = false;
};

void note_failure(StallState& s, const StallSession::Failure& failure, std::uint32_t device) noexcept {
    if (failure) s.spool.write_failure(failure.function, failure.code, device);
}

void start(StallState& s, StallSession& session) noexcept {
    if (session.is_open() && !session.running()) note_failure(s, session.start(*s.cupti), session.device());
}

// Ends the span and writes what it had.
void end_span(StallState& s, StallSession& session) noexcept {
    if (!session.running()) return;
    note_failure(s, session.stop(*s.cupti), session.device());
    for (std::size_t i = 0; i < kMaxReads && session.more(); ++i) {
        StallSession::Failure failure = session.read(*s.cupti, s.payload, s.names);
        note_failure(s, failure, session.device());
        if (!failure) s.spool.write_read(s.payload.view());
    }
}

void close(StallState& s, StallSession& session) noexcept {
    end_span(s, session);
    if (session.is_open()) {
        note_failure(s, session.close(*s.cupti, s.payload, s.names), session.device());
        s.spool.write_read(s.payload.view());
    }
    session.forget();
}

void add_context(StallState& s, void* context) noexcept {
    if (s.refused || context == nullptr) return;
    std::uint32_t device = 0;
    if (s.cupti->cuptiGetDeviceId == nullptr || s.cupti->cuptiGetDeviceId(context, &device) != kCuptiSuccess)
        device = 0;
    StallSession* free = nullptr;
    for (StallSession& session : s.sessions) {
        if (session.context() == context) return;
        if (session.is_open() && session.device() == device) {
            if (s.idle_contexts++ == 0)
                s.spool.write_refusal(
                    "warp samples of a second context of a GPU: CUPTI samples one context per GPU at a time; use one "
                    "context per GPU, or measure counters instead (gpu-profile counters --set sol)");
            return;
        }
        if (free == nullptr && session.context() == nullptr) free = &session;
    }
    if (free == nullptr) return s.spool.write_refusal("warp samples of more than 64 contexts");
    StallSession::Failure failure = free->open(*s.cupti, s.version, context, device, s.period);
    if (failure) {
        note_failure(s, failure, device);
        s.refused = holds_for_all(failure.code);
        return free->forget();
    }
    s.spool.write_reasons(free->reasons());
    watch_exit();  // before the destructors of what CUPTI has loaded by now
    if (s.window_open) start(s, *free);
}

void remove_context(StallState& s, const void* context) noexcept {
    for (StallSession& session : s.sessions)
        if (context != nullptr && session.context() == context) close(s, session);
}

void give_up(StallState& s, const char* sentence) noexcept {
    s.spool.write_refusal(sentence);
    s.spool.finish();
}

}  // namespace

bool stalls_wanted() noexcept { return settings().active && settings().stall_period > 0; }

void start_stalls(bool callbacks) noexcept {
    void* room = std::calloc(1, sizeof(StallState));
    if (room == nullptr) return;
    auto* made = new (room) StallState;
    StallState& s = *made;
    s.period = static_cast<std::uint32_t>(settings().stall_period);
    if (!s.spool.open(settings().folder)) return;
    s.cupti = cupti_multiplexer().cupti();
    if (s.cupti == nullptr)
        return give_up(s, "warp samples: libcupti not found; install it (nvidia-cuda-cupti) or set GPUPROF_CUPTI");
    if (s.cupti->cuptiGetVersion(&s.version) != kCuptiSuccess) s.version = 0;
    if (s.cupti->cuptiPCSamplingEnable == nullptr)
        return give_up(s, "warp samples: this CUPTI is too old; they need CUPTI 11.3 or later");
    if (!callbacks)
        return give_up(
            s,
            "warp samples: another client holds CUPTI's only subscription, which announces contexts; end the other "
            "profiler, or record without --stalls");
    load_range_libraries(s.cupti->path);
    s.driver.load();
    s.window_open.store(window().open(), std::memory_order_relaxed);
    s.read_at.store(monotonic_ns(), std::memory_order_relaxed);
    stall_state.store(made, std::memory_order_release);
    s.active.store(true, std::memory_order_release);
}

void on_stall_resource(std::uint32_t cbid, const void* about) noexcept {
    StallState* s = active_state();
    if (s == nullptr || about == nullptr) return;
    OverheadTimer timed;
    const auto& resource = *static_cast<const Resource*>(about);
    if (cbid == Resource::kModuleLoaded) return s->spool.write_module(*s->cupti, resource.descriptor);
    if (cbid != Resource::kContextCreated && cbid != Resource::kContextDestroyed) return;
    Turn turn(*s);
    if (!turn) return s->spool.write_refusal("warp samples of a context: the recorder was busy for two seconds");
    if (cbid == Resource::kContextCreated) return add_context(*s, resource.context);
    remove_context(*s, resource.context);
}

void lose_stall_callbacks() noexcept {
    if (StallState* s = active_state())
        s->spool.write_refusal(
            "warp samples from then on: CUPTI's only subscription was left to another client; new contexts are not "
            "sampled, and code loaded later has no source lines");
}

void switch_stalls(bool open) noexcept {
    StallState* s = active_state();
    if (s == nullptr) return;
    s->window_open.store(open, std::memory_order_relaxed);
    s->due.store(kNextWindow, std::memory_order_release);
}

// Earlier work of the context is not the window's, and the window's work ends in it.
void follow_stalls() noexcept {
    StallState* s = active_state();
    if (s == nullptr || s->due.load(std::memory_order_acquire) == kNothing) return;
    OverheadTimer timed;
    Turn turn(*s, 0);
    if (!turn) return;  // the next launch
    if (s->due.exchange(kNothing) == kNextWindow && s->driver.synchronize != nullptr) s->driver.synchronize();
    for (StallSession& session : s->sessions) {
        end_span(*s, session);
        if (s->window_open.load(std::memory_order_relaxed)) start(*s, session);
    }
    s->read_at.store(monotonic_ns(), std::memory_order_relaxed);
}

void drain_stalls(std::int64_t now) noexcept {
    StallState* s = active_state();
    int nothing = kNothing;
    if (s != nullptr && now - s->read_at.load(std::memory_order_relaxed) >= kSpan)
        s->due.compare_exchange_strong(nothing, kNextSpan);
}

void finish_stalls() noexcept {
    StallState* s = active_state();
    if (s == nullptr) return;
    Turn turn(*s);
    if (!turn) return;
    for (StallSession& session : s->sessions) close(*s, session);
    // All records were read. Those that another client was given may still be read.
    if (!other_client().present()) s->names.free_all();
    s->active.store(false, std::memory_order_release);
    s->spool.finish();
}

void forget_stalls() noexcept {
    StallState* s = stall_state.load(std::memory_order_relaxed);
    if (s == nullptr) return;
    s->active.store(false, std::memory_order_relaxed);
    s->spool.forget();
    stall_state.store(nullptr, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
