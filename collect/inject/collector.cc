#include "collect/inject/collector.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "collect/inject/collector_state.h"
#include "collect/inject/counters/counter_collector.h"
#include "collect/inject/counters/stall_collector.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/host/graph_events.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/process_meta.h"
#include "collect/inject/spool/buffers.h"
#include "collect/inject/spool/chunks.h"
#include "collect/inject/spool/name_log.h"
#include "core/base/clock.h"
#include "core/base/ids.h"

// Of the library that times calls of the operating system (collect/os_calls), if that is preloaded too.
extern "C" void gpuprof_os_calls_leave_out_thread() __attribute__((weak));

namespace gpuprof::inject {
namespace {

enum Phase : int { kDormant, kStarting, kRunning, kEnding, kEnded };
std::atomic<int> phase{kDormant};

constexpr long kDrainInterval = 10 * kMillisecond;
constexpr std::int64_t kFlushInterval = 250 * kMillisecond, kClockInterval = 1000 * kMillisecond;
constexpr std::int64_t kReclaimInterval = 100 * kMillisecond;
constexpr std::size_t kMinRingsToReclaim = 64;
constexpr std::int64_t kSlowStart = 5000 * kMillisecond;
constexpr std::int64_t kAggregateInterval = 2000 * kMillisecond;
constexpr std::uint64_t kAggregateBytes = std::uint64_t{16} << 20;
constexpr int kMaxLateWaits = 10, kMaxTries = 3;
constexpr std::int64_t kMaxDrain = 100 * kMillisecond, kMaxShutdown = 1200 * kMillisecond;
constexpr std::int64_t kMaxExitWait = 2000 * kMillisecond;  // maximum delay of the exit by a hanging CUPTI
constexpr std::int64_t kMaxYieldWait = 1000 * kMillisecond;

Collector* collector = nullptr;
bool handlers_set = false;      // of fork() and exit(); children inherit them
bool device_inherited = false;  // CUPTI was in use in the parent process at fork()

pid_t thread_id() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

void pause(long ns) noexcept {
    timespec length{0, ns};
    nanosleep(&length, nullptr);
}

// Waits at most `most` ns for `done`, which another thread sets before posting.
template <class Done>
void wait_until(EventCount& wake, std::int64_t timeout_ns, Done&& done) noexcept {
    std::int64_t until = monotonic_ns() + timeout_ns;
    for (;;) {
        std::uint32_t ticket = wake.ticket();
        std::int64_t left = until - monotonic_ns();
        if (done() || left <= 0) return;
        wake.wait(ticket, left < 100 * kMillisecond ? static_cast<long>(left) : 100 * kMillisecond);
    }
}

// Not before start() has returned: it runs on a thread of the program.
void flush(Collector& c, bool forced) noexcept {
    if (c.cuda_started.load(std::memory_order_acquire)) c.activity.flush(forced);
}

void drain(Collector& c, std::int64_t until) noexcept {
    if (c.cuda_started.load(std::memory_order_acquire)) {
        if (!c.names_written) c.names_written = !c.activity.running() || c.activity.write_function_names(c.file);
        if (!c.refusal_written && c.activity.refusal()[0] != '\0')
            c.refusal_written = c.file.write(ChunkKind::spool_refused, c.activity.refusal());
        if (!c.refusal_written && counters_refusal()[0] != '\0')
            c.refusal_written = c.file.write(ChunkKind::spool_refused, counters_refusal());
        c.activity.drain(c.file, until);
    }
    write_events(c);
    write_graph_nodes(c.file, false);
}

// CUPTI starts on the program's thread, within cuInit: the driver may hold locks that let no other thread call it. If
// it never returns, the program hangs, and this message says why.
void note_slow_start(Collector& c, std::int64_t now) noexcept {
    std::int64_t since = c.starting_since.load(std::memory_order_relaxed);
    if (since == 0 || now - since < kSlowStart || c.slow_start_written) return;
    c.slow_start_written = c.file.write(ChunkKind::spool_refused,
                                        "GPU work: starting CUPTI blocked the program for more than 5 s; "
                                        "record without it: --trace nvtx,cpu");
}

const PartNumber* part_of(const Collector& c) noexcept {
    if (c.keeper != nullptr) return &c.keeper->part();
    return settings().aggregate ? &c.part : nullptr;
}

void begin_part(Collector& c) noexcept {
    for (int i = 0; i < kMaxTries && c.file.empty(); ++i) write_process_meta(c.file, part_of(c));
    write_clock(c);
    write_facts(c);  // the reader knows our thread from now on
    write_names_so_far(c);
    write_graph_nodes(c.file, true);
    if (settings().aggregate) write_losses(c, false);  // what is lost in this part is the difference
    c.part_began = monotonic_ns();
}

// Parts of --aggregate have consecutive numbers, so that the launcher knows of those that were deleted unread.
void number_next_part(Collector& c, std::int64_t finished) noexcept {
    std::int64_t& oldest = c.finished[c.part.number++ % kMaxAwaited];
    char path[SpoolFile::kPathBytes];
    if (oldest != 0 && SpoolFile::path_of(path, settings().folder, oldest)) unlink(path);
    oldest = finished;
}

// With --keep-last, only the last part and the one before it are kept; together they cover at least the requested time.
void next_part(Collector& c) noexcept {
    if (c.keeper == nullptr &&
        (settings().launch_stacks ||
         settings().standby)) {  // records belong to the part that has the stacks of their launches
        flush(c, false);
        drain(c, monotonic_ns() + kMaxDrain);
    }
    write_losses(c, false);
    write_facts(c);
    std::int64_t finished = c.file.created_at();
    bool turned = c.keeper != nullptr ? c.keeper->turn(c.file, settings().folder, c.part_began)
                                      : c.file.next(settings().folder, settings().standby || settings().aggregate);
    if (!turned) return;  // continues in this one
    if (settings().aggregate) number_next_part(c, finished);
    c.counted = ~std::uint64_t{0};  // the losses so far must outlive the part that states them
    begin_part(c);
    if (c.keeper != nullptr) c.keeper->write(c.file, c.steps, false);
    if (settings().standby) forget_past(c);
    c.names_written = c.refusal_written = c.devices_asked = false;
    c.activity.forget_names();
}

// Whether the launcher signalled that the recording reached its maximum size.
bool full() noexcept {
    char path[sizeof settings().folder + 8];
    std::snprintf(path, sizeof path, "%s/full", settings().folder);
    return settings().limited && access(path, F_OK) == 0;
}

// With --aggregate, steps are only counted.
void write_steps(Collector& c) noexcept {
    c.events.clear();
    c.events.add(std::uint32_t{0});
    c.steps.take_events([&](const StepEvent& event) {
        if (event.kind != StepEvent::ended) return;
        spool::HostEvent step{};
        step.bytes = sizeof step;
        step.op = spool::HostEventOp::step;
        step.time = static_cast<std::uint64_t>(event.begin.real);
        step.domain = event.thread;
        step.range = static_cast<std::uint64_t>(event.end.steady - event.begin.steady);
        c.refused_memory += !c.events.add(&step, sizeof step);
    });
    if (c.events.size() > sizeof(std::uint32_t)) c.file.write(ChunkKind::spool_nvtx, c.events.view());
}

// What the program's steps did since the last round; `regular` once a second.
void follow_steps(Collector& c, std::int64_t now, bool regular) noexcept {
    c.keeper->take_events(c.steps);
    if (regular || c.keeper->changed()) c.keeper->write(c.file, c.steps, false);
    if (c.keeper->part_ends(c.file, c.part_began, now)) next_part(c);
}

// Aligns CUPTI's kinds with the window, or gives CUPTI away. Apart from the start, the only place that switches kinds
// for us.
void follow_window(Collector& c, std::int64_t now) noexcept {
    if (!c.cuda_started.load(std::memory_order_acquire) || !c.activity.running()) return;
    if (c.yielded.load(std::memory_order_acquire)) {
        c.activity.yield();
        c.given_away.notify();
    } else {
        c.kinds.follow(c.activity, c.window, now);
        c.activity.callbacks().make_way();
    }
}

// Carries out triggers. CUPTI's kinds are on before the window opens, so that its first work is recorded.
void follow_standby(Collector& c, std::int64_t now) noexcept {
    bool delivered = !c.cuda_started.load(std::memory_order_acquire) || !c.kinds.on();
    if (!c.standby.follow(c.window, now, delivered)) return;
    if (c.standby.starting()) c.kinds.ask();
    std::int64_t before = c.file.created_at();
    next_part(c);
    c.standby.turned(before, c.file.created_at());
}

void at_exit() { end_collector(); }

// Once in each part. With the first records, the driver has been started, whether or not callbacks said so.
void follow_devices(Collector& c) noexcept {
    if (c.devices_asked || !c.cuda_started.load(std::memory_order_acquire) || !c.activity.delivered()) return;
    watch_exit();
    c.activity.dump_devices();
    c.devices_asked = true;
}

void* spool(void*) {
    Collector& c = *collector;
    c.thread.store(thread_id(), std::memory_order_relaxed);
    if (gpuprof_os_calls_leave_out_thread != nullptr) gpuprof_os_calls_leave_out_thread();
    begin_part(c);
    const bool standby = settings().standby;
    if (standby) c.standby.start(c.file.created_at());
    std::int64_t flushed = c.part_began, clocked = flushed, reclaimed = flushed;
    std::uint32_t ticket = c.work.ticket();
    while (phase.load(std::memory_order_acquire) == kRunning) {
        c.work.wait(ticket, standby ? static_cast<long>(c.standby.pause()) : kDrainInterval);
        ticket = c.work.ticket();
        std::int64_t now = monotonic_ns();
        if (standby) follow_standby(c, now);
        bool quiet = standby && c.standby.idle() && !c.kinds.on();  // nothing can have happened
        c.window.tick(now);
        follow_window(c, now);
        if (!quiet && now - flushed >= kFlushInterval) {
            follow_devices(c);
            flush(c, false);
            flushed = now;
        }
        if (flushed == now && full()) c.window.shut();
        write_windows(c);
        drain(c, now + kMaxDrain);
        if (c.window.open() && c.cuda_started.load(std::memory_order_acquire)) c.activity.measure_record_cost();
        note_slow_start(c, now);
        watch_counters(now);
        drain_stalls(now);
        if (now - reclaimed >= kReclaimInterval || EventRing::count() > kMinRingsToReclaim) {
            EventRing::reclaim();
            reclaimed = now;
        }
        if (!quiet && now - clocked >= kClockInterval) {
            write_clock(c);
            write_losses(c, false);
            write_facts(c);
            clocked = now;
        }
        if (settings().aggregate) write_steps(c);
        if (settings().aggregate && (now - c.part_began >= kAggregateInterval || c.file.bytes() >= kAggregateBytes))
            next_part(c);
        if (settings().keep_last_ns > 0 && now - c.part_began >= settings().keep_last_ns) next_part(c);
        if (c.keeper != nullptr) follow_steps(c, now, clocked == now);
    }
    std::int64_t ending = monotonic_ns();
    flush(c, false);
    flush(c, true);
    write_windows(c);
    drain(c, ending + kMaxShutdown);
    // CUPTI returns buffers on its own threads, possibly with a delay.
    for (int i = 0; i < kMaxLateWaits && buffers().given() > 0; ++i) {
        pause(kDrainInterval);
        drain(c, ending + kMaxShutdown);
    }
    if (standby) c.standby.finish(c.window);
    if (settings().aggregate) write_steps(c);
    write_clock(c);
    write_facts(c);
    if (c.keeper != nullptr) {
        c.keeper->take_events(c.steps);
        c.keeper->finish(settings().folder, c.window.open());  // first: it may make room on a full disk
        c.keeper->write(c.file, c.steps, true);
    }
    for (int i = 0; i < kMaxTries; ++i) write_losses(c, true);  // retries if it could not be written
    finish_counters();
    c.file.write(ChunkKind::end, {});
    c.file.remove_if_empty();
    finish_stalls();
    phase.store(kEnded, std::memory_order_release);
    c.ended.notify();
    return nullptr;
}

// A forked child has its parent's memory and none of its threads. It begins its own recording with its first annotation
// or CUDA call. CUPTI does not work in it if the parent used CUPTI (its flush hangs), and neither does CUDA if the
// parent started it; then device work is not recorded. The parent's records stay with the parent.
void in_child() {
    EventRing::forget_all();
    name_log().adopt_in_child();
    buffers().forget();
    forget_graph_nodes();
    collector_overhead_ns.store(0, std::memory_order_relaxed);
    if (collector != nullptr) {
        bool starting = collector->starting_since.load(std::memory_order_relaxed) != 0;
        device_inherited |= starting || collector->cuda_started.load(std::memory_order_relaxed);
        collector->file.forget();
    }
    device_inherited |= cupti_multiplexer().wants_anything(ClientId::other);
    cupti_multiplexer().forget_loading();
    forget_counters();
    forget_stalls();
    collector = nullptr;
    phase.store(kDormant, std::memory_order_relaxed);
}

// On the thread that opens or closes the window.
void switch_window(bool open) noexcept {
    OverheadTimer timed;
    switch_counter_range(open);
    switch_stalls(open);
    if (!open || !device_recording()) return;
    if (WithinCallback::here())
        collector->kinds.switch_on_here(collector->activity);
    else if (thread_id() != collector->thread.load(std::memory_order_relaxed))
        collector->kinds.wait_until_on(collector->work);
    else
        collector->kinds.ask();
}

// Device work, from within cuInit.
void start_device(Collector& c) noexcept {
    OverheadTimer timed;
    c.starting_since.store(monotonic_ns(), std::memory_order_relaxed);
    if (counters_planned()) {
        start_counters();
    } else if (c.activity.start()) {
        if (stalls_wanted()) start_stalls(c.activity.callbacks().subscribed());
        c.kinds.start(c.activity, c.window);
    }
    watch_exit();
    c.cuda_started.store(true, std::memory_order_release);
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
    collector->process = getpid();
    if (!collector->file.open(settings().folder)) return false;
    collector->steps.start();
    collector->keeper = collector->steps.wanted() ? StepKeeper::make(collector->file) : nullptr;
    collector->part.first = collector->file.created_at();
    // At once: a program that is killed now leaves a truncated part, not nothing.
    write_process_meta(collector->file, part_of(*collector));
    if (settings().keep_slow > 0 && collector->keeper == nullptr)
        collector->file.write(ChunkKind::spool_refused, "keeping only some steps: out of memory; everything is kept");
    return true;
}

// Tells the launcher that a recording cannot begin.
void give_up(const char* what) noexcept {
    SpoolFile& file = collector->file;
    file.write(ChunkKind::spool_refused, what);
    file.write(ChunkKind::end, {});
    file.remove_if_empty();
}

// Installs handlers and starts the thread; without them recording is pointless.
bool install_handlers_and_thread() noexcept {
    const char* refused = nullptr;
    if (!handlers_set && (pthread_atfork(nullptr, nullptr, in_child) != 0 || std::atexit(at_exit) != 0))
        refused = "everything: cannot install handlers for fork() and exit(): out of memory";
    else if (!start_thread())
        refused = "everything: cannot start a thread; check ulimit -u and the container's process limit";
    if (refused != nullptr) give_up(refused);
    if (!handlers_set) std::at_quick_exit(at_exit);  // if this fails, quick_exit() loses as much as a kill
    handlers_set = true;
    return refused == nullptr;
}

}  // namespace

bool recording() noexcept { return phase.load(std::memory_order_relaxed) == kRunning; }

bool start_collector() noexcept {
    int dormant = kDormant;
    if (phase.compare_exchange_strong(dormant, kStarting)) {
        bool begun = begin();
        if (begun) collector->window.start(switch_window, monotonic_ns());
        phase.store(kRunning, std::memory_order_release);  // before its thread checks it
        if (!begun || !install_handlers_and_thread()) phase.store(kEnded, std::memory_order_release);
    }
    while (phase.load(std::memory_order_acquire) == kStarting) sched_yield();
    return recording();
}

// May be called from: exit handlers, _exit in a signal handler on any thread, _exit in a child of vfork(), which shares
// its parent's memory.
void end_collector() noexcept {
    int now = phase.load(std::memory_order_acquire);
    if ((now != kRunning && now != kEnding) || collector->process != getpid()) return;
    if (collector->thread.load(std::memory_order_relaxed) == thread_id()) return;
    now = kRunning;
    phase.compare_exchange_strong(now, kEnding);
    collector->work.notify();
    wait_until(collector->ended, kMaxExitWait, [] { return phase.load(std::memory_order_acquire) == kEnded; });
}

// The driver's comes with cuInit; which of the calls here follows it is known for no version.
void watch_exit() noexcept {
    constexpr int kMaxHandlers = 8;  // of a process, and its forked children
    static std::atomic<int> handlers{0};
    if (handlers.fetch_add(1, std::memory_order_relaxed) < kMaxHandlers) std::atexit(at_exit);
}

Window& window() noexcept { return collector->window; }
StepWatch& step_watch() noexcept { return collector->steps; }

bool will_record_device() noexcept {
    int now = phase.load(std::memory_order_relaxed);
    return settings().active && now != kEnded && !device_inherited &&
           (now != kRunning || !collector->yielded.load(std::memory_order_relaxed));
}

bool device_recording() noexcept {
    return recording() && collector->activity.running() && !collector->yielded.load(std::memory_order_relaxed);
}

void yield_device() noexcept {
    Collector& c = *collector;
    c.yielded.store(true, std::memory_order_release);
    c.work.notify();
    wait_until(c.given_away, kMaxYieldWait, [&] { return !c.activity.running(); });
}

bool yield_callbacks() noexcept { return collector->activity.callbacks().give_up(); }

bool stream_id(void* stream, std::uint32_t& id) noexcept {
    const Cupti* cupti = device_recording() ? cupti_multiplexer().cupti() : nullptr;
    return cupti != nullptr && cupti->cuptiGetStreamIdEx != nullptr &&
           cupti->cuptiGetStreamIdEx(nullptr, stream, 0, &id) == kCuptiSuccess;
}

}  // namespace gpuprof::inject

// Called by the CUDA driver inside cuInit, for the library in CUDA_INJECTION64_PATH. Returns 1 to continue.
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    using namespace gpuprof::inject;
    if (start_collector() && !device_inherited && !collector->cuda_started.load(std::memory_order_acquire)) {
        start_device(*collector);
    }
    return 1;
}
