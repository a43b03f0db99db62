#include "collect/cpu/usage.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace gpuprof::inline cpu {
namespace {

constexpr pid_t kWholeProcess = 0;  // takes the place of a thread

}  // namespace

UsageRecorder::UsageRecorder(ProcFiles& files, CapturePart& part, std::string host, bool commands)
    : files_(files), part_(part), host_(std::move(host)), commands_(commands), page_bytes_(sysconf(_SC_PAGESIZE)) {}

void UsageRecorder::look(const std::vector<pid_t>& processes, TimeNs now) {
    ++look_;
    for (pid_t pid : processes) look_into(pid, now);
    std::size_t threads = 0;
    for (auto known = processes_.begin(); known != processes_.end();) {
        auto& [pid, process] = *known;
        bool there = process.usage.look == look_;
        close_threads(process, pid, !there);
        threads += process.threads.size();
        if (!there) close_idle(process.usage, pid, kWholeProcess);
        known = there ? std::next(known) : processes_.erase(known);
    }
    max_threads_ = std::max(max_threads_, threads);
}

void UsageRecorder::look_at(pid_t process, TimeNs now) {
    ++look_;
    look_into(process, now);
}

void UsageRecorder::finish() { look({}, 0); }

void UsageRecorder::look_into(pid_t pid, TimeNs now) {
    std::optional<ProcStat> stat = files_.stat(pid);
    if (!stat) return;
    Process& process = processes_[pid];
    bool renamed = process.usage.name != stat->name;
    bool fresh = advance(process.usage, *stat, std::nullopt, now, pid, kWholeProcess);
    if (fresh) {
        ++processes_seen_;
        process.looks = 0;
    }
    // Between fork and exec a process still looks like its parent, so the second look describes it again.
    if (fresh || renamed || ++process.looks == 2) describe(process, pid);
    files_.list_threads(pid, threads_);
    for (pid_t thread : threads_) {
        std::optional<SchedStat> sched = files_.schedstat(pid, thread);  // before stat, whose text is used below
        std::optional<ProcStat> of_thread = files_.stat(pid, thread);
        if (!of_thread) continue;
        Counter& counter = process.threads[thread];
        bool renamed_thread = counter.name != of_thread->name;
        of_thread->resident_pages = -1;
        if (advance(counter, *of_thread, sched, now, pid, thread) || renamed_thread)
            describe_thread(pid, thread, of_thread->name);
    }
}

// Writes the use since the last reading; returns whether `stat` belongs to another process or thread than before.
bool UsageRecorder::advance(Counter& counter, const ProcStat& stat, std::optional<SchedStat> sched, TimeNs now,
                            pid_t pid, pid_t thread) {
    bool fresh = counter.look == 0 || counter.start_ticks != stat.start_ticks;
    if (fresh) {
        if (counter.look != 0) close_idle(counter, pid, thread);
        TimeNs start = std::min(machine_start_ns() + stat.start_ticks * tick_, now);
        counter = Counter{.start_ticks = stat.start_ticks, .read_at = start, .idle_since = start, .name = {}};
    }
    Use use{.user = (stat.user_ticks - counter.user_ticks) * tick_,
            .system = (stat.system_ticks - counter.system_ticks) * tick_,
            .resident = stat.resident_pages >= 0 ? stat.resident_pages * page_bytes_ : -1};
    if (sched) {
        use.ready = std::max<std::int64_t>(sched->ready - counter.ready_ns, 0);
        counter.ready_ns = sched->ready;
    }
    if (use.user > 0 || use.system > 0 || use.ready >= tick_) {
        close_idle(counter, pid, thread);
        add_row(counter.read_at, now, pid, thread, use);
        counter.idle_since = now;
        counter.resident_bytes = counter.idle_ready = -1;
    } else if (use.ready >= 0) {
        counter.idle_ready = std::max<std::int64_t>(counter.idle_ready, 0) + use.ready;
    }
    counter.resident_bytes = std::max(counter.resident_bytes, use.resident);
    counter.user_ticks = stat.user_ticks;
    counter.system_ticks = stat.system_ticks;
    counter.read_at = now;
    counter.name = stat.name;
    counter.look = look_;
    return fresh;
}

void UsageRecorder::add_row(TimeNs begin, TimeNs end, pid_t pid, pid_t thread, const Use& use) {
    std::string key = host_ + ":" + std::to_string(pid);
    RowBuffer& row = part_.table("cpu_sample").add();
    row.set("time", begin).set("dur", end - begin).set("process", part_.intern(key));
    if (thread != kWholeProcess) row.set("thread", part_.intern(key + "/" + std::to_string(thread)));
    row.set("user_ns", std::max<std::int64_t>(use.user, 0)).set("system_ns", std::max<std::int64_t>(use.system, 0));
    if (use.resident >= 0) row.set("resident_bytes", use.resident);
    if (use.ready >= 0) row.set("ready_ns", use.ready);
}

void UsageRecorder::close_idle(const Counter& counter, pid_t pid, pid_t thread) {
    if (counter.read_at > counter.idle_since)
        add_row(counter.idle_since, counter.read_at, pid, thread,
                {.resident = counter.resident_bytes, .ready = counter.idle_ready});
}

void UsageRecorder::close_threads(Process& process, pid_t pid, bool all) {
    std::erase_if(process.threads, [&](const auto& known) {
        bool gone = all || known.second.look != look_;
        if (gone) close_idle(known.second, pid, known.first);
        return gone;
    });
}

void UsageRecorder::describe(Process& process, pid_t pid) {
    std::string program = files_.program(pid), command = commands_ ? files_.command(pid) : std::string();
    if (program.empty() && command.empty()) {  // it has already ended, or belongs to another user
        if (!process.program.empty()) return;
        program = process.usage.name;
    }
    if (program == process.program && command == process.command) return;
    process.program = program;
    process.command = command;
    RowBuffer& row = part_.table("process").add();
    row.set("key", part_.intern(host_ + ":" + std::to_string(pid))).set("pid", pid).set("host", part_.intern(host_));
    if (!program.empty()) row.set("name", part_.intern(program));
    if (!command.empty()) row.set("command", part_.intern(command));
}

void UsageRecorder::describe_thread(pid_t pid, pid_t thread, std::string_view name) {
    std::string key = host_ + ":" + std::to_string(pid);
    part_.table("thread")
        .add()
        .set("key", part_.intern(key + "/" + std::to_string(thread)))
        .set("process", part_.intern(key))
        .set("tid", thread)
        .set("name", part_.intern(name));
}

}  // namespace gpuprof::cpu
