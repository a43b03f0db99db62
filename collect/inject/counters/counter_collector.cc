#include "collect/inject/counters/counter_collector.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "collect/inject/collector.h"
#include "collect/inject/counters/counter_launch.h"
#include "collect/inject/counters/kernel_choice.h"
#include "collect/inject/counters/launch_measurement.h"
#include "collect/inject/cupti/cupti_codes.h"
#include "collect/inject/cupti/cupti_multiplexer.h"

namespace gpuprof::inject {
namespace {

using spool::CounterLaunch;
using spool::CounterSkip;
using Verdict = KernelChoice::Verdict;

constexpr std::uint32_t kContextDestroyed = 2;

// Of the whole process; never destroyed.
struct Shared {
    CounterPlan plan;
    const Cupti* cupti = nullptr;
    void* subscriber = nullptr;
    CounterFunctions watched;
    KernelChoice choice;
    LaunchMeasurement measurement;
    // Of the launch that is measured; the measurement's owner has them.
    std::uint32_t correlation = 0;
    void* shape = nullptr;

    std::atomic<bool> active{false};
    std::atomic<int> captures{0};  // streams that are being captured
    char refusal[512] = {};
};
Shared* common = nullptr;

enum : int { kUnread, kReading, kNoPlan, kPlanned };
std::atomic<int> plan_state{kUnread};

// Null without a plan; from any thread.
Shared* shared_state() noexcept { return plan_state.load(std::memory_order_acquire) == kPlanned ? common : nullptr; }

// Maps the plan in FOLDER, which stays mapped: its texts point into the file. Absent if there is none, or if it is damaged.
std::optional<CounterPlan> map_counter_plan(const char* folder) noexcept {
    char path[4096];
    int length = std::snprintf(path, sizeof path, "%s/%s", folder, kCounterPlanFile);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return std::nullopt;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return std::nullopt;
    struct stat about {};
    void* memory = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size > 0)
        memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return std::nullopt;
    std::optional<CounterPlan> plan =
        decode_counter_plan({static_cast<const char*>(memory), static_cast<std::size_t>(about.st_size)});
    bool whole = plan && !plan->metrics.empty() && (!plan->config.empty() || plan->scope == CounterScope::instructions);
    return whole ? std::move(plan) : std::nullopt;
}

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

// At the exit of a function that begins or ends a capture. All are seen, as callbacks come since cuInit, so that the driver
// need not be asked, which a callback must not do.
void note_capture(LaunchKind kind, const CallbackData& call) noexcept {
    int result = 0;
    if (call.result != nullptr) std::memcpy(&result, call.result, sizeof result);
    if (kind == LaunchKind::begin_capture) {
        if (result == 0) common->captures.fetch_add(1);
        return;
    }
    // CUDA_ERROR_ILLEGAL_STATE, _STREAM_CAPTURE_UNMATCHED and _WRONG_THREAD: it ends no capture; other errors do.
    if (result == 401 || result == 903 || result == 908) return;
    if (common->captures.load() > 0) common->captures.fetch_sub(1);
}

// Why a wanted launch is not measured; kinds: it is.
CounterSkip obstacle(Verdict verdict) noexcept {
    if (verdict == Verdict::collective) return CounterSkip::device_collective;
    if (common->measurement.ended() || verdict == Verdict::no_room) return CounterSkip::ended;
    if (common->captures.load(std::memory_order_relaxed) > 0) return CounterSkip::capture;
    return CounterSkip::kinds;
}

CounterLaunch launch_of(const CounterFunctions::Watched& watched, const CallbackData& call,
                        const LaunchArguments& arguments) noexcept {
    CounterLaunch launch{};
    launch.context = call.context_id;
    launch.stream = CounterLaunch::kUnknown;
    std::uint32_t stream = 0;
    if (common->cupti->cuptiGetStreamIdEx != nullptr &&
        common->cupti->cuptiGetStreamIdEx(nullptr, arguments.stream, watched.per_thread, &stream) == kCuptiSuccess)
        launch.stream = stream;
    launch.correlation = call.correlation;
    std::memcpy(launch.grid, arguments.grid, sizeof launch.grid);
    std::memcpy(launch.block, arguments.block, sizeof launch.block);
    launch.dynamic_shared_bytes = arguments.dynamic_shared_bytes;
    launch.cluster = arguments.cluster;
    return launch;
}

void enter_launch(const CounterFunctions::Watched& watched, const CallbackData& call) noexcept {
    Shared& s = *common;
    CounterSpool& spool = s.measurement.spool();
    const char* name = call.symbol != nullptr ? call.symbol : "";
    if (watched.kind == LaunchKind::graph) return spool.skip(CounterSkip::graph, "");
    if (watched.kind == LaunchKind::multi_device) return spool.skip(CounterSkip::multi_device, name);
    LaunchArguments arguments;
    if (*name == '\0' || !window().open() || !read_launch(watched.kind, call, arguments)) return;
    KernelChoice::Answer answer = s.choice.see(name, arguments);
    if (answer.verdict == Verdict::unwanted) return;
    if (CounterSkip why = obstacle(answer.verdict); why != CounterSkip::kinds) return spool.skip(why, name);
    if (!s.measurement.acquire()) return spool.skip(CounterSkip::busy, name);
    if (s.measurement.budget_is_spent()) {
        spool.skip(CounterSkip::budget, name);
        return s.measurement.release();
    }
    if (!s.choice.take(answer)) return s.measurement.release();
    CounterLaunch launch = launch_of(watched, call, arguments);
    launch.occurrence = answer.occurrence;
    s.correlation = call.correlation;
    s.shape = answer.shape;
    if (s.measurement.begin(launch, name, const_cast<void*>(call.context), answer.typical_ns)) return;
    s.choice.take_back(answer.shape);
    s.measurement.release();
}

void leave_launch(const CallbackData& call) noexcept {
    Shared& s = *common;
    if (!s.measurement.running() || s.correlation != call.correlation) return;
    if (!s.measurement.end()) s.choice.take_back(s.shape);
    s.measurement.release();
}

// On a thread of the program, within its call.
void on_call(void*, std::uint32_t domain, std::uint32_t cbid, const void* about) noexcept {
    Shared& s = *common;
    WithinCallback within;
    if (domain == kResourceDomain) {
        const auto* resource = static_cast<const pcs::Resource*>(about);
        if (resource == nullptr) return;
        if (cbid == pcs::Resource::kModuleLoaded)
            return s.measurement.modules().write_module(*s.cupti, resource->descriptor);
        if (cbid != kContextDestroyed || !s.measurement.acquire()) return;
        s.measurement.close(resource->context);
        return s.measurement.release();
    }
    if (domain != kDriverDomain || cbid >= CounterFunctions::kFunctions || !recording()) return;
    const CounterFunctions::Watched& watched = s.watched[cbid];
    const auto& call = *static_cast<const CallbackData*>(about);
    bool exit = call.site == CallbackData::kExit;
    bool mine = s.measurement.owner().is_this_thread();
    if (watched.kind == LaunchKind::begin_capture || watched.kind == LaunchKind::end_capture)
        return exit ? note_capture(watched.kind, call) : void();
    if (exit) {
        if (mine) leave_launch(call);
        return;
    }
    if (mine || s.plan.scope == CounterScope::range) return;
    // Any launch would be measured with the one that runs on another thread.
    if (s.measurement.owner().taken() && s.measurement.acquire()) s.measurement.release();
    enter_launch(watched, call);
}

bool subscribe() noexcept {
    Shared& s = *common;
    const Cupti& cupti = *s.cupti;
    if (cupti.cuptiSubscribe == nullptr || cupti.cuptiEnableCallback == nullptr ||
        cupti.cuptiGetCallbackName == nullptr) {
        refuse("callbacks", kFunctionMissing);
        return false;
    }
    if (int code = cupti.cuptiSubscribe(&s.subscriber, on_call, nullptr); code != kCuptiSuccess) {
        refuse("cuptiSubscribe", code);
        return false;
    }
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
    std::uint32_t version = 0;
    if (s.cupti->cuptiGetVersion(&version) != kCuptiSuccess) version = 0;
    if (s.cupti->cuptiRangeProfilerEnable == nullptr) {
        std::snprintf(s.refusal, sizeof s.refusal, "kernel counters: %.300s is too old; they need CUPTI 12.6 or later",
                      s.cupti->path);
        return;
    }
    if (version != s.plan.cupti_version) {
        std::snprintf(s.refusal, sizeof s.refusal,
                      "kernel counters: the program uses CUPTI %u (%.200s), but they were planned for %u; set "
                      "GPUPROF_CUPTI to the path of the program's CUPTI",
                      version, s.cupti->path, s.plan.cupti_version);
        return;
    }
    if (!s.choice.start(s.plan) || !s.measurement.start(s.plan, *s.cupti, version, settings().folder)) {
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
    const Driver& driver = s.measurement.driver();
    if (!open) {
        if (!s.measurement.running()) return;
        if (driver.synchronize != nullptr) driver.synchronize();
        (void)s.measurement.end();
        return s.measurement.release();
    }
    char name[256];
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(s.plan.range.size()), s.plan.range.data());
    void* context = nullptr;
    bool known = driver.current_context != nullptr && driver.current_context(&context) == 0 && context != nullptr;
    CounterSpool& spool = s.measurement.spool();
    if (!known) return spool.skip(CounterSkip::failed, name);
    if (s.measurement.ended()) return spool.skip(CounterSkip::ended, name);
    if (s.captures.load(std::memory_order_relaxed) > 0) return spool.skip(CounterSkip::capture, name);
    if (s.measurement.begun() >= s.plan.launches) return;
    if (!s.measurement.acquire()) return spool.skip(CounterSkip::busy, name);
    if (driver.synchronize != nullptr) driver.synchronize();
    CounterLaunch launch{};
    launch.range = 1;
    launch.context = launch.stream = launch.correlation = CounterLaunch::kUnknown;
    if (!s.measurement.begin(launch, name, context, 0)) s.measurement.release();
}

void watch_counters(std::int64_t now) noexcept {
    Shared* shared = shared_state();
    if (shared == nullptr || !shared->active.load(std::memory_order_acquire)) return;
    Shared& s = *shared;
    s.measurement.spool().write_skips();
    // A range lasts as long as the program wants.
    if (s.plan.scope == CounterScope::range || !s.measurement.hangs(now)) return;
    kill(getpid(), SIGKILL);
}

void finish_counters() noexcept {
    Shared* s = shared_state();
    if (s == nullptr || !s->active.load(std::memory_order_acquire)) return;
    s->measurement.finish();
}

void forget_counters() noexcept {
    if (common == nullptr) return;
    common->active.store(false, std::memory_order_relaxed);
    common->measurement.forget();
    plan_state.store(kNoPlan, std::memory_order_relaxed);
    common = nullptr;
}

}  // namespace gpuprof::inject
