#include "cli/aggregate/aggregation.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/aggregate/process_parts.h"
#include "cli/aggregate/process_totals.h"
#include "cli/aggregate/totals.h"
#include "cli/serve/containers.h"
#include "collect/counters/spool_input.h"
#include "collect/cpu/proc_files.h"
#include "collect/launch/injection.h"
#include "collect/launch/run_folder.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/base/text/shell_words.h"
#include "core/base/whole_file.h"

namespace gpuprof::inline cli {
namespace {

constexpr auto kPartsLook = std::chrono::milliseconds(250);
constexpr DurNs kSnapshotInterval = 5'000'000'000;
constexpr auto kMostEnding = std::chrono::seconds(60);
constexpr std::uint64_t kMostOnDisk = std::uint64_t{192} << 20;  // of finished parts; those beyond are dropped unread
constexpr std::uint64_t kMostSnapshot = std::uint64_t{16} << 20;
constexpr int kMostRecorders = 1024;  // of one host
constexpr int kLowPriority = 10;
constexpr int kKeptMemory = 32 << 20;  // for the next part or process, instead of new pages: a third of the CPU time

// Those that are too much for the disk, oldest first, never the newest one of a process. The gap in their numbers is counted.
void drop_excess(std::vector<ProcessPart>& parts) {
    std::uint64_t bytes = 0;
    std::vector<ProcessPart*> finished;
    for (ProcessPart& part : parts)
        if (!part.newest) {
            finished.push_back(&part);
            bytes += part.bytes;
        }
    std::sort(finished.begin(), finished.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
    for (ProcessPart* part : finished) {
        if (bytes <= kMostOnDisk) break;
        bytes -= part->bytes;
        unlink(part->file.c_str());
        part->file.clear();
    }
    std::erase_if(parts, [](const ProcessPart& part) { return part.file.empty(); });
}

void note_pod(JobTotals& totals) {
    auto variable = [](const char* name) { return std::string_view(getenv(name) == nullptr ? "" : getenv(name)); };
    constexpr std::size_t kMostMounts = 1 << 20;
    cpu::ProcFiles files;
    OwnPod own = own_pod(files.read(getpid(), "mountinfo", kMostMounts).value_or(""), variable("POD_NAMESPACE"),
                         variable("POD_NAME"));
    totals.pod_uid = std::move(own.pod_uid);
    totals.pod_namespace = std::move(own.name.space);
    totals.pod = std::move(own.name.pod);
    totals.container = std::move(own.name.container);
}

DurNs thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

struct Aggregation::State {
    std::string file, parts;
    int locked = -1;  // descriptor
    JobTotals totals;
    DurNs cpu_before = 0;  // of earlier recorders
    std::map<std::int64_t, ProcessTotals> processes;
    TimeNs written_at = 0;  // CLOCK_MONOTONIC
    Status status;          // of the last snapshot
    std::mutex mutex;       // guards those below, and `status` once there is a thread
    std::condition_variable wake;
    bool started = false, stop = false, stopped = false;
    Parts then = Parts::removed;

    ~State() {
        if (locked >= 0) close(locked);
    }
    void run();
    void look(bool last, Parts after);
    Status write_snapshot(bool ended);
};

// Reads the finished parts: all but the newest one of each process, and that too if the process has ended.
void Aggregation::State::look(bool last, Parts after) {
    std::set<std::int64_t> ended;  // before the list is made, which therefore has all their parts
    for (const auto& [pid, process] : processes)
        if (last || launch::has_ended(pid)) ended.insert(pid);
    for (const ProcessPart& part : process_parts(parts))
        if (last || launch::has_ended(part.pid)) ended.insert(part.pid);
    std::vector<ProcessPart> found = process_parts(parts);
    std::erase_if(found, [](const ProcessPart& part) { return part.kept; });  // they have been read
    if (after != Parts::kept && !last) drop_excess(found);
    for (ProcessPart& part : found) {
        if (part.newest && !ended.contains(part.pid)) continue;
        ProcessTotals& process = processes.try_emplace(part.pid, totals).first->second;
        (void)counters::read_chunks_of(part.file, [&](ByteInput& input) {
            return counters::read_chunks(input, [&](const RawChunk& chunk) { process.take(chunk); });
        });
        process.sweep(part.newest);
        if (part.newest) processes.erase(part.pid);
        if (after == Parts::removed) unlink(part.file.c_str());
        if (after == Parts::handed_on) keep_part(part);
        if (!last && monotonic_ns() - written_at >= kSnapshotInterval) return;
    }
    for (std::int64_t pid : ended)
        if (auto process = processes.find(pid); process != processes.end()) {
            process->second.sweep(true);
            processes.erase(process);
        }
}

Status Aggregation::State::write_snapshot(bool ended) {
    written_at = monotonic_ns();
    totals.written = realtime_ns();
    totals.recorder_cpu = cpu_before + thread_cpu_ns();
    totals.ended = ended;
    totals.choose_shown();
    return launch::replace_file(file, encode(totals));
}

void Aggregation::State::run() {
    (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowPriority);
    std::unique_lock lock(mutex);
    for (bool last = false; !last;) {
        last = wake.wait_for(lock, kPartsLook, [this] { return stop; });
        lock.unlock();
        Status written;
        Status looked = caught([&] {
            look(last, then);
            if (last || monotonic_ns() - written_at >= kSnapshotInterval) written = write_snapshot(last);
        });
        lock.lock();
        status = looked ? written : looked;
    }
    stopped = true;
    wake.notify_all();
}

Aggregation::Aggregation(std::shared_ptr<State> state) : state_(std::move(state)) {}
Aggregation::Aggregation(Aggregation&&) noexcept = default;
Aggregation::~Aggregation() {
    if (state_ && state_->started) (void)finish();
}
const std::string& Aggregation::file() const { return state_->file; }

Result<Aggregation> Aggregation::open(const std::string& into) {
    mallopt(M_MMAP_THRESHOLD, kKeptMemory);
    mallopt(M_TRIM_THRESHOLD, kKeptMemory);
    auto state = std::make_shared<State>();
    for (int number = 0; number < kMostRecorders && state->locked < 0; ++number) {
        std::string name = fmt::format("{}-{}", launch::host_word(), number);
        int lock =
            ::open(fmt::format("{}/.{}.lock", into, name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return Error{ExitCode::not_permitted,
                         fmt::format("cannot write to folder {}: {}", shell_quoted_file(into), std::strerror(errno))};
        if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
            close(lock);
            continue;
        }
        state->locked = lock;
        state->file = fmt::format("{}/{}{}", into, name, kSuffix);
    }
    if (state->locked < 0)
        return Error{ExitCode::not_permitted,
                     fmt::format("{} recorders of this host write into {} already", kMostRecorders, into)};
    if (Result<std::string> text = read_whole_file(state->file, kMostSnapshot); text.ok())
        if (Result<JobTotals> earlier = parse_job_totals(*text); earlier.ok()) state->totals = std::move(*earlier);
    if (state->totals.started == 0) state->totals.started = realtime_ns();
    state->cpu_before = state->totals.recorder_cpu;
    state->totals.host = host_name();
    note_pod(state->totals);
    if (Status written = state->write_snapshot(false); !written) return written.error();
    return Aggregation(std::move(state));
}

void Aggregation::start(const std::string& parts, Parts after) {
    state_->parts = parts;
    state_->then = after;
    state_->started = true;
    std::thread([state = state_] { state->run(); }).detach();
}

Status Aggregation::finish() {
    std::unique_lock lock(state_->mutex);
    if (!std::exchange(state_->started, false)) return {};
    state_->stop = true;
    state_->wake.notify_all();
    if (!state_->wake.wait_for(lock, kMostEnding, [this] { return state_->stopped; }))
        return Error{ExitCode::internal,
                     fmt::format("the last totals could not be written to {}: its file system does not answer",
                                 shell_quoted_file(state_->file))};
    return state_->status;
}

Status Aggregation::read_all(const std::string& parts, Parts after) {
    state_->parts = parts;
    return caught([&]() -> Status {
        state_->look(true, after);
        return state_->write_snapshot(true);
    });
}

}  // namespace gpuprof::cli
