#include "collect/inject/collector.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "collect/inject/activity.h"
#include "collect/inject/buffers.h"
#include "collect/inject/event_ring.h"
#include "collect/inject/other_client.h"
#include "collect/inject/own_cost.h"
#include "collect/inject/process_facts.h"
#include "collect/inject/switchboard.h"
#include "core/base/clock.h"
#include "core/schema/facts.h"

namespace gpuprof::inject {
namespace {

enum Phase : int { kDormant, kStarting, kRunning, kEnding, kEnded };
std::atomic<int> phase{kDormant};

constexpr long kMillisecond = 1'000'000;
constexpr long kDrainEvery = 10 * kMillisecond;
constexpr std::int64_t kFlushEvery = 250 * kMillisecond, kClockEvery = 1000 * kMillisecond;
constexpr std::int64_t kReclaimEvery = 100 * kMillisecond;
constexpr std::size_t kManyRings = 64;
constexpr std::int64_t kSlowStart = 5000 * kMillisecond;
constexpr int kMostLateWaits = 10, kMostTries = 3;
constexpr int kMostExitWaits = 200;  // times 10 ms: what a hanging CUPTI may cost at exit

// Made once and left behind: threads of the program may use it until the last moment.
struct Collector {
    Window window;
    SpoolFile file;
    Activity activity;
    Scratch events, counts, facts, lasting;
    std::atomic<bool> cuda_started{false};  // activity.start() has returned
    std::atomic<bool> yielded{false};
    std::atomic<bool> flush_wanted{false};
    std::int64_t part_began = 0;
    std::atomic<std::int64_t> starting_since{0};  // CUPTI is being started; 0: it is not
    bool names_written = false, refusal_written = false, slow_start_told = false;
    std::uint64_t refused_memory = 0;  // pieces of annotations that could not be copied
    std::uint64_t counted = ~std::uint64_t{0};
};
Collector* collector = nullptr;

void pause(long ns) noexcept {
    timespec length{0, ns};
    nanosleep(&length, nullptr);
}

// Names outlast the part they were given in.
void keep_names(Collector& c) noexcept {
    std::string_view events = c.events.view().substr(sizeof(std::uint32_t));
    while (events.size() >= sizeof(spool::NvtxEvent)) {
        spool::NvtxEvent event;
        std::memcpy(&event, events.data(), sizeof event);
        if (event.bytes < sizeof(std::uint64_t) || event.bytes > events.size()) return;
        bool name = event.op == spool::NvtxOp::string_name || event.op == spool::NvtxOp::domain_name ||
                    event.op == spool::NvtxOp::thread_name || event.op == spool::NvtxOp::category_name ||
                    event.op == spool::NvtxOp::stream_name;
        if (name && event.bytes >= sizeof event && event.time != 0) c.lasting.add(events.data(), event.bytes);
        events.remove_prefix(event.bytes);
    }
}

void write_events(Collector& c) noexcept {
    for (EventRing* ring = EventRing::first(); ring != nullptr; ring = ring->next()) {
        c.events.clear();
        c.events.add(static_cast<std::uint32_t>(ring->thread()));
        ring->drain([&](const char* bytes, std::size_t size) { c.refused_memory += !c.events.add(bytes, size); });
        if (settings().keep_last_ns > 0) keep_names(c);
        if (c.events.size() > sizeof(std::uint32_t)) c.file.write(ChunkKind::spool_nvtx, c.events.view());
    }
}

void write_clock(Collector& c) noexcept {
    struct {
        std::int64_t realtime, monotonic;
        std::uint64_t cupti;
    } reading{realtime_ns(), monotonic_ns(),
              c.cuda_started.load(std::memory_order_acquire) ? c.activity.timestamp() : 0};
    c.file.write(ChunkKind::spool_clock, {reinterpret_cast<const char*>(&reading), sizeof reading});
}

void write_losses(Collector& c, bool at_end) noexcept {
    std::uint64_t full = EventRing::homeless(), cut = 0;
    for (EventRing* ring = EventRing::first(); ring != nullptr; ring = ring->next())
        full += ring->dropped(), cut += ring->cut();
    bool cuda = c.cuda_started.load(std::memory_order_acquire);
    std::uint64_t dropped = cuda ? c.activity.dropped() : 0, kept = at_end ? buffers().given() : 0;
    std::uint64_t unwritten = c.file.unwritten() + c.refused_memory;
    std::uint64_t sum = full + cut + dropped + kept + unwritten;
    if (sum == c.counted) return;
    c.counted = sum;
    c.counts.clear();
    auto add = [&](spool::Lost reason, std::uint64_t count) { c.counts.add(reason), c.counts.add(count); };
    add(spool::Lost::cupti_dropped, dropped);
    add(spool::Lost::nvtx_full, full);
    add(spool::Lost::too_long, cut);
    add(spool::Lost::unwritten, unwritten);
    add(spool::Lost::kept_buffers, kept);
    c.file.write(ChunkKind::spool_lost, c.counts.view());
}

// What the trust line needs: who had CUPTI, and what recording took.
void write_facts(Collector& c) noexcept {
    c.facts.clear();
    auto text = [&](std::string_view key, std::string_view value) { c.facts.add_text(key), c.facts.add_text(value); };
    auto number = [&](std::string_view key, std::uint64_t value) {
        char digits[24];
        int size = std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
        text(key, {digits, static_cast<std::size_t>(size)});
    };
    if (c.cuda_started.load(std::memory_order_acquire) && switchboard().cupti() != nullptr) {
        constexpr const char* kPolicies[] = {"share", "own", "yield"};
        text("cupti_path", switchboard().cupti()->path);
        number("cupti_version", c.activity.version());
        text("cupti_policy", kPolicies[static_cast<unsigned>(settings().cupti)]);
        if (c.yielded.load(std::memory_order_relaxed)) text(fact::kYielded, "1");
        if (std::uint64_t given = other_client().copied()) number(fact::kGivenToOther, given);
        if (std::uint64_t refused = other_client().refused()) number("records_other_client_had_no_room_for", refused);
    }
    number(fact::kOnProgramThreads, own_cost_ns.load(std::memory_order_relaxed));
    number(fact::kOnOwnThread, static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID)));
    if (c.window.closed_at() != 0 && !c.window.open())
        number(fact::kWindowClosedAt, static_cast<std::uint64_t>(c.window.closed_at()));
    c.file.write(ChunkKind::spool_facts, c.facts.view());
}

// Not before start() has returned: it runs on a thread of the program.
void flush(Collector& c, bool forced) noexcept {
    if (c.cuda_started.load(std::memory_order_acquire)) c.activity.flush(forced);
}

void drain(Collector& c) noexcept {
    if (c.cuda_started.load(std::memory_order_acquire)) {
        if (!c.names_written) c.names_written = !c.activity.running() || c.activity.write_function_names(c.file);
        if (!c.refusal_written && c.activity.refusal()[0] != '\0')
            c.refusal_written = c.file.write(ChunkKind::spool_refused, c.activity.refusal());
        c.activity.drain(c.file);
    }
    write_events(c);
}

// CUPTI is started on the program's thread, within cuInit: the driver may hold locks that let no other thread call it. If it
// never comes back the program hangs, and whoever ends it finds out why.
void tell_of_slow_start(Collector& c, std::int64_t now) noexcept {
    std::int64_t since = c.starting_since.load(std::memory_order_relaxed);
    if (since == 0 || now - since < kSlowStart || c.slow_start_told) return;
    c.slow_start_told =
        c.file.write(ChunkKind::spool_refused,
                     "GPU work: CUPTI did not come back for 5 s while it was started, and held the program up; "
                     "record --trace nvtx,cpu leaves it alone");
}

void begin_part(Collector& c) noexcept {
    for (int i = 0; i < kMostTries && c.file.empty(); ++i) write_process_facts(c.file);  // the first chunk of a part
    write_clock(c);
    c.part_began = monotonic_ns();
}

// Only the last part and the one before it are kept: at least what is to be kept is in them.
void next_part(Collector& c) noexcept {
    write_losses(c, false);
    write_facts(c);
    if (!c.file.next(settings().folder)) return;  // it goes on in this one
    begin_part(c);
    c.names_written = c.refusal_written = false;
    c.activity.forget_names();
    if (c.lasting.size() == 0) return;
    c.events.clear();
    c.events.add(std::uint32_t{0});
    c.events.add(c.lasting.view().data(), c.lasting.size());
    c.file.write(ChunkKind::spool_nvtx, c.events.view());
}

// Whether the launcher says that the recording is as large as it may be.
bool full() noexcept {
    char path[sizeof settings().folder + 8];
    std::snprintf(path, sizeof path, "%s/full", settings().folder);
    return settings().limited && access(path, F_OK) == 0;
}

void* spool(void*) {
    Collector& c = *collector;
    begin_part(c);
    std::int64_t flushed = c.part_began, clocked = flushed, reclaimed = flushed;
    while (phase.load(std::memory_order_acquire) == kRunning) {
        pause(kDrainEvery);
        std::int64_t now = monotonic_ns();
        c.window.tick(now);
        if (now - flushed >= kFlushEvery || c.flush_wanted.exchange(false)) flush(c, false), flushed = now;
        if (flushed == now && full()) c.window.shut();
        drain(c);
        tell_of_slow_start(c, now);
        if (now - reclaimed >= kReclaimEvery || EventRing::count() > kManyRings) EventRing::reclaim(), reclaimed = now;
        if (now - clocked >= kClockEvery) write_clock(c), write_losses(c, false), write_facts(c), clocked = now;
        if (settings().keep_last_ns > 0 && now - c.part_began >= settings().keep_last_ns) next_part(c);
    }
    flush(c, false);
    flush(c, true);
    drain(c);
    // Buffers come back on CUPTI's own threads, which may be a little behind.
    for (int i = 0; i < kMostLateWaits && buffers().given() > 0; ++i) {
        pause(kDrainEvery);
        drain(c);
    }
    write_clock(c);
    write_facts(c);
    for (int i = 0; i < kMostTries; ++i) write_losses(c, true);  // again when that could not be written
    c.file.write(ChunkKind::end, {});
    c.file.remove_if_empty();
    phase.store(kEnded, std::memory_order_release);
    return nullptr;
}

void at_exit() {
    int running = kRunning;
    if (!phase.compare_exchange_strong(running, kEnding)) return;
    for (int i = 0; i < kMostExitWaits && phase.load(std::memory_order_acquire) != kEnded; ++i) {
        pause(10 * kMillisecond);
    }
}

void in_child() {
    phase.store(kEnded, std::memory_order_relaxed);
    EventRing::forget_all();
    if (collector != nullptr) collector->file.forget();
}

// On the thread that opens or closes the window.
void switch_window(bool open) noexcept {
    OwnTime timed;
    Collector& c = *collector;
    if (!device_recording()) return;
    if (open) return c.activity.open();
    c.activity.close();
    c.flush_wanted.store(true, std::memory_order_relaxed);
}

// Device work, from within cuInit.
void start_device(Collector& c) noexcept {
    OwnTime timed;
    c.starting_since.store(monotonic_ns(), std::memory_order_relaxed);
    bool started = c.activity.start();
    c.cuda_started.store(true, std::memory_order_release);
    if (started && c.window.open()) c.activity.open();
    c.starting_since.store(0, std::memory_order_relaxed);
}

bool start_thread() noexcept {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, &attributes, spool, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return started;
}

bool begin() noexcept {
    if (!settings().active) return false;
    void* memory = std::calloc(1, sizeof(Collector));
    if (memory == nullptr) return false;
    collector = new (memory) Collector;
    return collector->file.open(settings().folder);
}

// A recording that cannot begin says so, for the launcher.
void give_up(const char* what) noexcept {
    SpoolFile& file = collector->file;
    write_process_facts(file);
    file.write(ChunkKind::spool_refused, what);
    file.write(ChunkKind::end, {});
    file.remove_if_empty();
}

// What needs the system's help, and is of no use without.
bool take_hold() noexcept {
    const char* refused = nullptr;
    if (pthread_atfork(nullptr, nullptr, in_child) != 0 || std::atexit(at_exit) != 0)
        refused = "everything: no memory for a handler of fork() and exit()";
    else if (!start_thread())
        refused = "everything: no thread could be started (see ulimit -u, and the container's limit of processes)";
    if (refused != nullptr) give_up(refused);
    std::at_quick_exit(at_exit);  // without it, what such an end loses is what a killed program loses
    return refused == nullptr;
}

}  // namespace

bool recording() noexcept { return phase.load(std::memory_order_relaxed) == kRunning; }

bool start_collector() noexcept {
    int dormant = kDormant;
    if (phase.compare_exchange_strong(dormant, kStarting)) {
        bool begun = begin();
        if (begun) collector->window.start(switch_window, monotonic_ns());
        phase.store(kRunning, std::memory_order_release);  // before its thread looks
        if (!begun || !take_hold()) phase.store(kEnded, std::memory_order_release);
    }
    while (phase.load(std::memory_order_acquire) == kStarting) sched_yield();
    return recording();
}

Window& window() noexcept { return collector->window; }

bool will_record_device() noexcept {
    int now = phase.load(std::memory_order_relaxed);
    return settings().active && now != kEnded &&
           (now != kRunning || !collector->yielded.load(std::memory_order_relaxed));
}

bool device_recording() noexcept {
    return recording() && collector->activity.running() && !collector->yielded.load(std::memory_order_relaxed);
}

void yield_device() noexcept {
    collector->yielded.store(true, std::memory_order_relaxed);
    collector->activity.yield();
}

bool stream_id(void* stream, std::uint32_t& id) noexcept {
    const Cupti* cupti = device_recording() ? switchboard().cupti() : nullptr;
    return cupti != nullptr && cupti->cuptiGetStreamIdEx != nullptr &&
           cupti->cuptiGetStreamIdEx(nullptr, stream, 0, &id) == kCuptiSuccess;
}

}  // namespace gpuprof::inject

// Called by the CUDA driver inside cuInit, for the library that CUDA_INJECTION64_PATH names. 1: go on.
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    using namespace gpuprof::inject;
    if (start_collector() && !collector->cuda_started.load(std::memory_order_acquire)) {
        start_device(*collector);
    }
    return 1;
}
