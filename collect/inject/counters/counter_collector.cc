#include "collect/inject/counters/counter_collector.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "collect/inject/collector.h"
#include "collect/inject/counters/counter_driver.h"
#include "collect/inject/counters/counter_functions.h"
#include "collect/inject/counters/counter_launch.h"
#include "collect/inject/counters/counter_plan_file.h"
#include "collect/inject/counters/counter_spool.h"
#include "collect/inject/counters/kernel_choice.h"
#include "collect/inject/counters/range_session.h"
#include "collect/inject/counters/sass_session.h"
#include "collect/inject/counters/stall_spool.h"
#include "collect/inject/cupti/cupti_codes.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

using spool::CounterSkip;
using Verdict = KernelChoice::Verdict;

constexpr std::uint32_t kContextDestroyed = 2;
constexpr std::size_t kMaxCountedContexts = 64;
constexpr int kMaxRefusals = 3;          // in a row; then nothing more is tried
constexpr std::uint64_t kSlowdown = 50;  // of a kernel under replay, at most: passes, and saving of memory

// Of the whole process; never destroyed.
struct Shared {
    CounterPlan plan;
    const Cupti* cupti = nullptr;
    std::uint32_t version = 0;
    Driver driver;
    void* subscriber = nullptr;
    CounterFunctions watched;
    CounterSpool spool;
    StallSpool modules;  // and what was counted in them, if the plan measures instructions

    // The thread that measures; 0: none. A lock that another thread may release: a range may end on another one.
    std::atomic<pid_t> owner{0};
    // Guarded by it.
    RangeSession sessions[kMaxCountedContexts];
    RangeSession* session = nullptr;  // of the running measurement
    SassSession instructions;         // if the plan measures these
    Scratch payload;
    std::uint64_t spent_ns = 0;
    int failures = 0;
    std::uint32_t correlation = 0;

    pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;  // for the choice
    KernelChoice choice;

    std::atomic<bool> active{false}, ended{false};  // ended: nothing more is measured
    std::atomic<int> captures{0};                   // streams that are being captured
    std::atomic<std::uint64_t> number{0};           // of the last measurement
    std::atomic<std::int64_t> since{0};             // of the running one, CLOCK_MONOTONIC; 0: none
    std::atomic<std::int64_t> limit{0};             // after which it is taken for hung
    bool told = false;
    char refusal[512] = {};
};
Shared* common = nullptr;

enum : int { kUnread, kReading, kNoPlan, kPlanned };
std::atomic<int> plan_state{kUnread};

// Null without a plan; from any thread.
Shared* shared_state() noexcept { return plan_state.load(std::memory_order_acquire) == kPlanned ? common : nullptr; }

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool read_plan() noexcept {
    std::optional<CounterPlan> plan = map_counter_plan(settings().folder);
    void* room = plan ? std::calloc(1, sizeof(Shared)) : nullptr;
    if (room == nullptr) return false;
    common = new (room) Shared;
    common->plan = std::move(*plan);
    return true;
}

void refuse(const char* what, int code) noexcept {
    const char* words = name_of_code(code);
    std::snprintf(common->refusal, sizeof common->refusal, "kernel counters: %s: CUPTI answers %d%s%s", what, code,
                  words != nullptr ? " " : "", words != nullptr ? words : "");
}

bool is_capturing(const CounterFunctions::Watched& watched, void* stream) noexcept {
    if (common->captures.load(std::memory_order_relaxed) > 0) return true;
    auto* ask = watched.per_thread ? common->driver.is_capturing_per_thread : common->driver.is_capturing;
    if (ask == nullptr) ask = common->driver.is_capturing;
    int status = 0;
    // The default stream answers an error while another stream is captured.
    return ask != nullptr && (ask(stream, &status) != 0 || status != 0);
}

RangeSession* session_of(const void* context) noexcept {
    RangeSession* free = nullptr;
    for (RangeSession& session : common->sessions) {
        if (session.context() == context) return &session;
        if (free == nullptr && session.context() == nullptr) free = &session;
    }
    return free;
}

// Waits until no other thread measures; whether this one may now.
bool acquire() noexcept {
    std::int64_t until = monotonic_ns() + static_cast<std::int64_t>(common->plan.hang_ns) + 1'000'000'000;
    for (;;) {
        pid_t nobody = 0;
        if (common->owner.compare_exchange_weak(nobody, this_thread(), std::memory_order_acquire)) return true;
        if (monotonic_ns() >= until) return false;
        constexpr timespec kPause{0, 50'000};
        nanosleep(&kPause, nullptr);
    }
}

void release() noexcept {
    common->since.store(0, std::memory_order_relaxed);
    common->session = nullptr;
    common->owner.store(0, std::memory_order_release);
}

void count_failure(int code) noexcept {
    if (holds_for_all(code) || ++common->failures >= kMaxRefusals) common->ended.store(true, std::memory_order_relaxed);
}

CuptiFailure begin_session(RangeSession& session, const char* range) noexcept {
    Shared& s = *common;
    if (s.plan.scope == CounterScope::instructions)
        return s.instructions.begin(*s.cupti, s.plan, session.context(), session.device());
    CuptiFailure failure;
    if (!session.is_open()) failure = session.open(*s.cupti, s.plan, s.version);
    return failure ? failure : session.begin(*s.cupti, s.plan, range);
}

// As the owner. Returns whether a measurement runs; its end must follow.
bool begin_measurement(spool::CounterLaunch& launch, const char* name, void* context,
                       std::uint64_t typical_ns) noexcept {
    Shared& s = *common;
    RangeSession* session = session_of(context);
    if (session == nullptr) return s.spool.skip(CounterSkip::ended, name), false;
    CuptiFailure failure;
    if (!session->is_open()) failure = session->find_device(*s.cupti, context);
    if (!failure && s.plan.chip != session->chip()) return s.spool.skip(CounterSkip::other_chip, name), false;
    launch.number = s.number.fetch_add(1, std::memory_order_relaxed) + 1;
    launch.time = static_cast<std::uint64_t>(realtime_ns());
    launch.device = session->device();
    s.spool.write_note(launch, name);
    // Of a kernel whose duration is unknown, every pass may take as long.
    std::uint64_t limit =
        typical_ns == 0 ? s.plan.hang_ns * s.plan.passes : s.plan.hang_ns + typical_ns * s.plan.passes * kSlowdown;
    s.limit.store(static_cast<std::int64_t>(limit), std::memory_order_relaxed);
    s.since.store(monotonic_ns(), std::memory_order_release);
    if (!failure) failure = begin_session(*session, launch.range != 0 ? name : nullptr);
    if (failure) {
        s.spool.write_image(launch.number, 0, {}, 0, failure);
        count_failure(failure.code);
        return false;
    }
    s.session = session;
    return true;
}

void end_measurement() noexcept {
    Shared& s = *common;
    bool instructions = s.plan.scope == CounterScope::instructions;
    // CUPTI's data are those of ended kernels.
    if (instructions && s.driver.synchronize != nullptr) s.driver.synchronize();
    CuptiFailure failure = instructions ? s.instructions.end(*s.cupti, s.plan, s.payload) : s.session->end(*s.cupti);
    auto took = static_cast<std::uint64_t>(monotonic_ns() - s.since.load(std::memory_order_relaxed));
    s.spent_ns += took;
    if (instructions && !failure) s.modules.write_counts(s.payload.view());
    s.spool.write_image(s.number.load(std::memory_order_relaxed), took,
                        instructions ? std::string_view() : s.session->image(),
                        instructions ? s.instructions.dropped() : s.session->dropped(), failure);
    if (s.session->stuck() || s.instructions.stuck()) s.ended.store(true, std::memory_order_relaxed);
    if (failure) return count_failure(failure.code);
    s.failures = 0;
    pthread_mutex_lock(&s.choosing);
    s.choice.count_measured();
    pthread_mutex_unlock(&s.choosing);
}

// Why a wanted launch is not measured; kinds: it is.
CounterSkip obstacle(const CounterFunctions::Watched& watched, Verdict verdict, const LaunchFacts& facts) noexcept {
    if (verdict == Verdict::collective) return CounterSkip::device_collective;
    if (common->ended.load(std::memory_order_relaxed) || verdict == Verdict::no_room) return CounterSkip::ended;
    if (is_capturing(watched, facts.stream)) return CounterSkip::capture;
    return CounterSkip::kinds;
}

void enter_launch(const CounterFunctions::Watched& watched, const CallbackData& call) noexcept {
    Shared& s = *common;
    const char* name = call.symbol != nullptr ? call.symbol : "";
    if (watched.kind == LaunchKind::graph) return s.spool.skip(CounterSkip::graph, "");
    if (watched.kind == LaunchKind::multi_device) return s.spool.skip(CounterSkip::multi_device, name);
    LaunchFacts facts;
    if (*name == '\0' || !window().open() || !read_launch(watched.kind, call, facts)) return;
    pthread_mutex_lock(&s.choosing);
    KernelChoice::Answer answer = s.choice.see(name, facts);
    pthread_mutex_unlock(&s.choosing);
    if (answer.verdict == Verdict::unwanted) return;
    if (CounterSkip why = obstacle(watched, answer.verdict, facts); why != CounterSkip::kinds)
        return s.spool.skip(why, name);
    if (!acquire()) return s.spool.skip(CounterSkip::busy, name);
    if (s.plan.budget_ns > 0 && s.spent_ns >= s.plan.budget_ns) {
        s.spool.skip(CounterSkip::budget, name);
        return release();
    }
    spool::CounterLaunch launch{};
    launch.occurrence = answer.occurrence;
    launch.context = call.context_id;
    launch.stream = spool::CounterLaunch::kUnknown;
    std::uint32_t stream = 0;
    if (s.cupti->cuptiGetStreamIdEx != nullptr &&
        s.cupti->cuptiGetStreamIdEx(nullptr, facts.stream, watched.per_thread, &stream) == kCuptiSuccess)
        launch.stream = stream;
    launch.correlation = call.correlation;
    std::memcpy(launch.grid, facts.grid, sizeof launch.grid);
    std::memcpy(launch.block, facts.block, sizeof launch.block);
    launch.dynamic_shared_bytes = facts.dynamic_shared_bytes;
    launch.cluster = facts.cluster;
    s.correlation = call.correlation;
    if (!begin_measurement(launch, name, const_cast<void*>(call.context), answer.typical_ns)) release();
}

void leave_launch(const CallbackData& call) noexcept {
    Shared& s = *common;
    if (s.session == nullptr || s.correlation != call.correlation) return;
    end_measurement();
    release();
}

// On a thread of the program, within its call.
void on_call(void*, std::uint32_t domain, std::uint32_t cbid, const void* about) noexcept {
    Shared& s = *common;
    if (domain == kResourceDomain) {
        const auto* resource = static_cast<const pcs::Resource*>(about);
        if (resource == nullptr) return;
        if (cbid == pcs::Resource::kModuleLoaded) return s.modules.write_module(*s.cupti, resource->descriptor);
        if (cbid != kContextDestroyed || !acquire()) return;
        for (RangeSession& session : s.sessions)
            if (session.is_open() && session.context() == resource->context) session.close(*s.cupti);
        return release();
    }
    if (domain != kDriverDomain || cbid >= CounterFunctions::kFunctions || !recording()) return;
    const CounterFunctions::Watched& watched = s.watched[cbid];
    const auto& call = *static_cast<const CallbackData*>(about);
    bool exit = call.site == CallbackData::kExit;
    bool mine = s.owner.load(std::memory_order_relaxed) == this_thread();
    if (watched.kind == LaunchKind::begin_capture || watched.kind == LaunchKind::end_capture) {
        int result = 0;
        if (exit && call.result != nullptr) std::memcpy(&result, call.result, sizeof result);
        if (watched.kind == LaunchKind::begin_capture && exit && result == 0) s.captures.fetch_add(1);
        if (watched.kind == LaunchKind::end_capture && exit && s.captures.load() > 0) s.captures.fetch_sub(1);
        return;
    }
    if (exit) {
        if (mine) leave_launch(call);
        return;
    }
    if (mine || s.plan.scope == CounterScope::range) return;
    // Any launch would be measured with the one that runs on another thread.
    if (s.owner.load(std::memory_order_relaxed) != 0 && acquire()) release();
    enter_launch(watched, call);
}

bool subscribe() noexcept {
    Shared& s = *common;
    const Cupti& cupti = *s.cupti;
    if (cupti.cuptiSubscribe == nullptr || cupti.cuptiEnableCallback == nullptr ||
        cupti.cuptiGetCallbackName == nullptr)
        return refuse("callbacks", 11), false;
    if (int code = cupti.cuptiSubscribe(&s.subscriber, on_call, nullptr); code != kCuptiSuccess)
        return refuse("cuptiSubscribe", code), false;
    s.watched.find(cupti);
    s.watched.enable(cupti, s.subscriber);
    cupti.cuptiEnableCallback(1, s.subscriber, kResourceDomain, kContextDestroyed);
    if (s.plan.scope == CounterScope::instructions)
        cupti.cuptiEnableCallback(1, s.subscriber, kResourceDomain, pcs::Resource::kModuleLoaded);
    return true;
}

}  // namespace

bool counters_planned() noexcept {
    int unread = kUnread;
    if (plan_state.compare_exchange_strong(unread, kReading))
        plan_state.store(settings().active && read_plan() ? kPlanned : kNoPlan, std::memory_order_release);
    while (plan_state.load(std::memory_order_acquire) == kReading) sched_yield();
    return plan_state.load(std::memory_order_acquire) == kPlanned;
}

void start_counters() noexcept {
    Shared& s = *common;
    if (settings().library[0] != '\0') cupti_multiplexer().name_library(settings().library);
    s.cupti = cupti_multiplexer().cupti();
    if (s.cupti == nullptr) {
        std::snprintf(s.refusal, sizeof s.refusal,
                      "kernel counters: libcupti not found; install it (nvidia-cuda-cupti) or set GPUPROF_CUPTI");
        return;
    }
    if (s.cupti->cuptiGetVersion(&s.version) != kCuptiSuccess) s.version = 0;
    if (s.cupti->cuptiRangeProfilerEnable == nullptr) {
        std::snprintf(s.refusal, sizeof s.refusal, "kernel counters: %.300s is too old; they need CUPTI 12.6 or later",
                      s.cupti->path);
        return;
    }
    if (s.version != s.plan.cupti_version) {
        std::snprintf(s.refusal, sizeof s.refusal,
                      "kernel counters: the program uses CUPTI %u (%.200s), but they were planned for %u; set "
                      "GPUPROF_CUPTI to the path of the program's CUPTI",
                      s.version, s.cupti->path, s.plan.cupti_version);
        return;
    }
    load_range_libraries(s.cupti->path);
    s.driver.load();
    bool instructions = s.plan.scope == CounterScope::instructions;
    if (!s.choice.start(s.plan) || !s.spool.open(settings().folder) ||
        (instructions && !s.modules.open(settings().folder))) {
        std::snprintf(s.refusal, sizeof s.refusal, "kernel counters: out of memory or disk");
        return;
    }
    if (subscribe()) s.active.store(true, std::memory_order_release);
}

const char* counters_refusal() noexcept {
    const Shared* s = shared_state();
    return s != nullptr ? s->refusal : "";
}

// Earlier work of the context is not the range's, and the range's work ends in it.
void switch_counter_range(bool open) noexcept {
    Shared* shared = shared_state();
    if (shared == nullptr) return;
    Shared& s = *shared;
    if (!s.active.load(std::memory_order_acquire) || s.plan.scope != CounterScope::range) return;
    char name[256];
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(s.plan.range.size()), s.plan.range.data());
    void* context = nullptr;
    bool known = s.driver.current_context != nullptr && s.driver.current_context(&context) == 0 && context != nullptr;
    if (!open) {
        if (s.session == nullptr) return;
        if (s.driver.synchronize != nullptr) s.driver.synchronize();
        end_measurement();
        return release();
    }
    if (!known) return s.spool.skip(CounterSkip::failed, name);
    if (s.ended.load(std::memory_order_relaxed)) return s.spool.skip(CounterSkip::ended, name);
    if (s.captures.load(std::memory_order_relaxed) > 0) return s.spool.skip(CounterSkip::capture, name);
    if (s.number.load(std::memory_order_relaxed) >= s.plan.launches) return;
    if (!acquire()) return s.spool.skip(CounterSkip::busy, name);
    if (s.driver.synchronize != nullptr) s.driver.synchronize();
    spool::CounterLaunch launch{};
    launch.range = 1;
    launch.context = launch.stream = launch.correlation = spool::CounterLaunch::kUnknown;
    if (!begin_measurement(launch, name, context, 0)) release();
}

void watch_counters(std::int64_t now) noexcept {
    Shared* shared = shared_state();
    if (shared == nullptr || !shared->active.load(std::memory_order_acquire)) return;
    Shared& s = *shared;
    s.spool.write_skips();
    std::int64_t since = s.since.load(std::memory_order_acquire), limit = s.limit.load(std::memory_order_relaxed);
    // A range lasts as long as the program wants.
    if (since == 0 || s.plan.scope == CounterScope::range || now - since < limit || s.told) return;
    s.told = true;
    s.spool.write_hung(s.number.load(std::memory_order_relaxed), static_cast<std::uint64_t>(now - since));
    kill(getpid(), SIGKILL);
}

void finish_counters() noexcept {
    Shared* s = shared_state();
    if (s == nullptr || !s->active.load(std::memory_order_acquire)) return;
    s->spool.finish();
    s->modules.finish();
}

void forget_counters() noexcept {
    if (common == nullptr) return;
    common->active.store(false, std::memory_order_relaxed);
    common->spool.forget();
    common->modules.forget();
    plan_state.store(kNoPlan, std::memory_order_relaxed);
    common = nullptr;
}

}  // namespace gpuprof::inject
