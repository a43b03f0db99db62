#include "collect/python/sampler.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/base/ids.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::python {
namespace {

constexpr std::int64_t kScanInterval = 200 * kMillisecond, kFlushInterval = 1000 * kMillisecond;
constexpr std::size_t kRowsPerFlush = 4096;
constexpr std::int64_t kMaxCostShare = 5;  // a fifth of a CPU
// A process without CPython may load it later (a program that embeds it, or exec), so it is searched again at growing
// intervals.
constexpr std::int64_t kSearchInterval = 100 * kMillisecond, kMaxSearchInterval = 3000 * kMillisecond;

// Where the C library stores a thread's id behind the result of pthread_self(): struct pthread of glibc on x86-64 and
// arm64, nptl/descr.h. Values that are not threads of the process are ignored.
constexpr std::array<Address, 2> kThreadIdOffsets = {720, 208};

}  // namespace

Result<std::unique_ptr<StackSampler>> StackSampler::open(const std::string& file, std::string mark, double hz) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(file, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    return std::unique_ptr<StackSampler>(new StackSampler(std::move(*part), std::move(mark), hz));
}

StackSampler::StackSampler(std::unique_ptr<CapturePart> part, std::string mark, double hz)
    : part_(std::move(part)),
      mark_(std::move(mark)),
      host_(host_name()),
      period_(static_cast<std::int64_t>(1e9 / hz)) {}

StackSampler::~StackSampler() {
    (void)caught([this] { return stop(); });
}

void StackSampler::start(pid_t command) {
    tree_ = std::make_unique<ProcessTree>(files_, command, mark_);
    thread_ = std::thread([this] { run(); });
}

void StackSampler::run() {
    std::int64_t next = monotonic_ns(), scanned = 0, flushed = next;
    for (;;) {
        std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = monotonic_ns();
        Status sampled = caught([&] {
            if (now - scanned >= kScanInterval) {
                find_targets();
                scanned = now;
            }
            sample();
        });
        if (!sampled) part_->discard();
        if (part_->waiting() >= kRowsPerFlush || now - flushed >= kFlushInterval) {
            (void)part_->flush();
            flushed = now;
        }
        std::int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        counts_.spent_ns += cost;
        ++counts_.ticks;
        std::int64_t earliest = now + cost * kMaxCostShare;
        for (next += period_; next < earliest; next += period_) ++counts_.missed;
        std::unique_lock lock(mutex_);
        auto wait = std::chrono::nanoseconds(next - monotonic_ns());
        if (wake_.wait_for(lock, wait, [this] { return stopping_; })) return;
    }
}

void StackSampler::find_targets() {
    const std::vector<pid_t>& processes = tree_->scan();
    for (auto target = targets_.begin(); target != targets_.end();) {
        bool there = std::binary_search(processes.begin(), processes.end(), target->first);
        if (!there) take_counts(target->second);
        target = there ? std::next(target) : targets_.erase(target);
    }
    for (pid_t pid : processes) search(pid, targets_[pid], monotonic_ns());
}

void StackSampler::search(pid_t pid, Target& target, std::int64_t now) {
    std::int64_t wait = std::min(kSearchInterval << std::min(target.searches, 8), kMaxSearchInterval);
    if (target.reader || target.outcome == SearchOutcome::unsupported || target.outcome == SearchOutcome::refused)
        return;
    if (target.searches > 0 && now - target.searched_ns < wait) return;
    InterpreterSearch finding = find_interpreter(files_, pid);
    if (target.outcome != finding.outcome) {
        counts_.refused += finding.outcome == SearchOutcome::refused;
        counts_.processes += finding.outcome == SearchOutcome::found;
    }
    ++target.searches;
    target.searched_ns = now;
    target.outcome = finding.outcome;
    if (finding.outcome == SearchOutcome::unsupported) counts_.unsupported = finding.minor;
    if (finding.outcome != SearchOutcome::found) return;
    target.memory = std::make_unique<ProcessMemory>(pid);
    target.reader =
        std::make_unique<StackReader>(*target.memory, finding.interpreter.layout, finding.interpreter.addresses);
}

void StackSampler::sample() {
    for (auto& [pid, target] : targets_) {
        if (!target.reader) continue;
        const std::vector<ThreadStack>& stacks = target.reader->read();
        for (const ThreadStack& stack : stacks) write(pid, target, stack);
        if (stacks.empty() && target.memory->error() == EPERM) give_up(target);
    }
}

// A process may change its user (setuid) after it was found.
void StackSampler::give_up(Target& target) {
    take_counts(target);
    target.reader.reset();
    target.outcome = SearchOutcome::refused;
    ++counts_.refused;
}

void StackSampler::write(pid_t pid, Target& target, const ThreadStack& stack) {
    std::string process = host_ + ":" + std::to_string(pid);
    RowBuffer& row = part_->table("stack_sample").add();
    row.set("time", realtime_ns()).set("process", part_->intern(process)).set("depth", stack.depth);
    row.set("stack", part_->intern(stack.frames)).set("cut", stack.cut ? 1 : 0);
    if (pid_t thread = thread_id(pid, target, stack); thread > 0)
        row.set("thread", part_->intern(process + "/" + std::to_string(thread)));
    if (stack.holds_gil) row.set("holds_gil", *stack.holds_gil ? 1 : 0);
    ++counts_.stacks;
}

pid_t StackSampler::thread_id(pid_t pid, Target& target, const ThreadStack& stack) {
    if (stack.native_id != 0) return static_cast<pid_t>(stack.native_id);
    auto [known, added] = target.threads.try_emplace(stack.pthread_id, 0);
    for (std::size_t i = 0; added && i < kThreadIdOffsets.size() && known->second == 0; ++i) {
        std::optional<std::int32_t> id = target.memory->value<std::int32_t>(stack.pthread_id + kThreadIdOffsets[i]);
        if (id && *id > 0 && files_.stat(pid, *id)) known->second = *id;
    }
    return known->second;
}

void StackSampler::take_counts(Target& target) {
    if (!target.reader) return;
    const StackCounts& counts = target.reader->counts();
    counts_.read.read += counts.read;
    counts_.read.torn += counts.torn;
    counts_.read.cut += counts.cut;
}

Status StackSampler::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    if (tree_) {
        for (auto& [pid, target] : targets_) take_counts(target);
        part_->add_fact("python.period_ns", std::to_string(period_));
        part_->add_fact("python.ticks", std::to_string(counts_.ticks));
        part_->add_fact("python.spent_ns", std::to_string(counts_.spent_ns));
        if (counts_.read.torn > 0)
            part_->add_loss("torn_stack", static_cast<std::int64_t>(counts_.read.torn), "Python stacks");
        if (counts_.read.cut > 0)
            part_->add_loss("deep_stack", static_cast<std::int64_t>(counts_.read.cut), "Python stacks");
        if (counts_.missed > 0)
            part_->add_loss("missed_stacks", static_cast<std::int64_t>(counts_.missed), "Python stacks");
        tree_.reset();
    }
    return part_->close();
}

}  // namespace gpuprof::python
