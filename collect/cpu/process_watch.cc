#include "collect/cpu/process_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/schema/cpu_meta_keys.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline cpu {
namespace {

constexpr std::size_t kRowsPerFlush = 4096;
constexpr std::int64_t kFlushInterval = 1'000'000'000;

}  // namespace

Result<std::unique_ptr<ProcessWatch>> ProcessWatch::open(const std::string& file, std::string mark, bool commands) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(file, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    return std::unique_ptr<ProcessWatch>(new ProcessWatch(std::move(*part), std::move(mark), commands));
}

ProcessWatch::ProcessWatch(std::unique_ptr<CapturePart> part, std::string mark, bool commands)
    : part_(std::move(part)), mark_(std::move(mark)), usage_(files_, *part_, host_name(), commands) {}

ProcessWatch::~ProcessWatch() {
    (void)caught([this] { return stop(); });
}

void ProcessWatch::start(pid_t command) {
    command_ = command;
    limits_.begin(command);
    tree_ = std::make_unique<ProcessTree>(files_, command, mark_);
    look();
    (void)part_->flush();
    thread_ = std::thread([this] { run(); });
}

void ProcessWatch::look() {
    std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const std::vector<pid_t>& processes = tree_->scan();
    usage_.look(processes, realtime_ns());
    std::int64_t spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    cost_.spent_ns += spent;
    ++cost_.looks;
    // A single slow look (a busy machine, a page fault) changes the wait only partly; repeated ones change it fully.
    std::int64_t fair = std::clamp(spent * kWaitPerCost, kDefaultWait, kMaxWait);
    wait_ = wait_ + (fair - wait_) / 4;
    cost_.max_wait_ns = std::max(cost_.max_wait_ns, wait_);
    processes_.store(usage_.processes_seen(), std::memory_order_relaxed);
}

void ProcessWatch::run() {
    std::unique_lock lock(mutex_);
    std::int64_t flushed = monotonic_ns();
    for (;;) {
        if (wake_.wait_for(lock, std::chrono::nanoseconds(wait_), [this] { return stopping_; })) return;
        if (Status looked = caught([this] { look(); }); !looked) part_->discard();
        std::int64_t now = monotonic_ns();
        if (part_->waiting() < kRowsPerFlush && now - flushed < kFlushInterval) continue;
        (void)part_->flush();
        flushed = now;
    }
}

void ProcessWatch::command_ended() {
    std::lock_guard lock(mutex_);
    if (!tree_) return;
    usage_.look_at(command_, realtime_ns());
    limits_.end();
    ended_ = true;
}

Status ProcessWatch::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    if (tree_) {
        usage_.finish();
        cost_.processes = usage_.processes_seen();
        cost_.threads = usage_.max_threads();
        add_facts();
        tree_.reset();
    }
    return part_->close();
}

void ProcessWatch::add_facts() {
    part_->add_fact("cpu.looks", std::to_string(cost_.looks));
    part_->add_fact("cpu.spent_ns", std::to_string(cost_.spent_ns));
    part_->add_fact("cpu.longest_interval_ns", std::to_string(cost_.max_wait_ns));
    if (!ended_) limits_.end();
    if (std::optional<QuotaPeriods> quota = limits_.quota())
        part_->add_fact(meta_key::kCpuQuotaPeriods, fmt::format("{} of {}", quota->throttled, quota->all));
    if (std::optional<CpuTicks> ticks = limits_.ticks(); ticks && ticks->stolen > 0)
        part_->add_fact(meta_key::kCpuSteal,
                        fmt::format("{} {}", ticks->stolen * ns_per_tick(), ticks->all * ns_per_tick()));
}

}  // namespace gpuprof::cpu
