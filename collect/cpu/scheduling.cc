#include "collect/cpu/scheduling.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline cpu {
namespace {

constexpr int kWaitMs = 200;
constexpr std::size_t kSlicesPerFlush = 32'768;
constexpr DurNs kSliceFlushInterval = 1'000'000'000;
constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

perf_event_attr switch_event(std::size_t ring_bytes) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;  // counts nothing, but carries the records
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attr.sample_id_all = 1;
    attr.context_switch = 1;
    attr.task = 1;  // ends of threads
    attr.comm = 1;
    attr.comm_exec = 1;
    attr.inherit = 1;
    attr.disabled = 1;
    attr.enable_on_exec = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;  // permitted up to perf_event_paranoid 2
    attr.use_clockid = 1;
    attr.clockid = CLOCK_REALTIME;
    attr.watermark = 1;
    attr.wakeup_watermark = static_cast<std::uint32_t>(ring_bytes / 4);
    return attr;
}

// Whether PERF_RECORD_MISC_SWITCH_OUT_PREEMPT exists: since Linux 4.17.
bool kernel_reports_preemption() {
    utsname system{};
    int major = 0, minor = 0;
    if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
    return major > 4 || (major == 4 && minor >= 17);
}

std::string first_line(std::string text) {
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
}

Error refusal(int error, const PerfSystem& system) {
    constexpr const char* kBegin = "scheduling is not recorded: ";
    constexpr const char* kEnd = "; time ready to run is still in the analysis cpu";
    switch (error) {
        case EACCES:
        case EPERM: {
            std::string level = first_line(system.read(kParanoid));
            return {
                ExitCode::not_permitted,
                fmt::format("{}the system does not permit perf_event_open (kernel.perf_event_paranoid is {}); in a "
                            "container allow it with --cap-add PERFMON or a seccomp profile, elsewhere run as root or "
                            "set kernel.perf_event_paranoid to 2 or less{}",
                            kBegin, level.empty() ? "unknown" : level, kEnd)};
        }
        case EINVAL:
            return {ExitCode::not_permitted,
                    fmt::format("{}this kernel does not report context switches; Linux 4.3 or later "
                                "does{}",
                                kBegin, kEnd)};
        case EMFILE:
        case ENFILE:
            return {ExitCode::not_permitted,
                    fmt::format("{}it needs one file descriptor per CPU; raise the limit with ulimit "
                                "-n{}",
                                kBegin, kEnd)};
        case ENOMEM:
            return {ExitCode::not_permitted, fmt::format("{}no memory for the buffers; raise ulimit -l or "
                                                         "kernel.perf_event_mlock_kb{}",
                                                         kBegin, kEnd)};
        default:
            return {ExitCode::not_permitted,
                    fmt::format("{}perf_event_open failed: {}; use a kernel and a sandbox that support perf events{}",
                                kBegin, std::strerror(error), kEnd)};
    }
}

}  // namespace

PerfSystem kernel_perf() {
    return {.open =
                [](perf_event_attr& attr, int cpu) {
                    long opened = syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
                    return opened < 0 ? -errno : static_cast<int>(opened);
                },
            .map = [](int descriptor, std::size_t bytes) -> void* {
                void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
                return mapped == MAP_FAILED ? nullptr : mapped;
            },
            .cpus = [] { return static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)); },
            .read =
                [](const char* file) {
                    std::ifstream stream(file);
                    return std::string{std::istreambuf_iterator<char>(stream), {}};
                }};
}

SchedulingRecorder::SchedulingRecorder(PerfSystem system)
    : system_(std::move(system)), host_(host_name()), knows_preemption_(kernel_reports_preemption()) {}

SchedulingRecorder::~SchedulingRecorder() {
    (void)caught([this] { return stop(); });
    if (wake_ >= 0) close(wake_);
}

Result<std::unique_ptr<SchedulingRecorder>> SchedulingRecorder::open(const std::string& file, PerfSystem system) {
    std::unique_ptr<SchedulingRecorder> recorder(new SchedulingRecorder(std::move(system)));
    if (Status opened = recorder->open_cpus(); !opened) return opened.error();
    recorder->wake_ = eventfd(0, EFD_CLOEXEC);
    if (recorder->wake_ < 0) return refusal(errno, recorder->system_);
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(file, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    recorder->part_ = std::move(*part);
    return recorder;
}

Status SchedulingRecorder::open_cpus() {
    int count = std::max(1, system_.cpus());
    std::size_t bytes = kRingBytes;
    while (bytes > kMinRingBytes && bytes * static_cast<std::size_t>(count) > kMaxTotalBytes) bytes /= 2;
    perf_event_attr attr = switch_event(bytes);
    for (int number = 0; number < count; ++number) {
        int descriptor = system_.open(attr, number);
        if (descriptor == -ENODEV) continue;  // this CPU is off
        if (descriptor < 0) return refusal(-descriptor, system_);
        cpus_.emplace_back().number = number;
        cpus_.back().descriptor = descriptor;
        if (Status mapped = map_ring(cpus_.back(), bytes); !mapped) return mapped;
    }
    return cpus_.empty() ? refusal(ENODEV, system_) : Status();
}

// A smaller ring if the limit of locked memory refuses this one (EPERM).
Status SchedulingRecorder::map_ring(Cpu& cpu, std::size_t bytes) {
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (; bytes >= kMinRingBytes; bytes /= 2) {
        cpu.bytes = page + bytes;
        cpu.mapped = system_.map(cpu.descriptor, cpu.bytes);
        if (cpu.mapped != nullptr) break;
        if (errno != EPERM && errno != ENOMEM) return refusal(errno, system_);
    }
    if (cpu.mapped == nullptr) return refusal(ENOMEM, system_);
    cpu.ring = std::make_unique<PerfRing>(*static_cast<perf_event_mmap_page*>(cpu.mapped),
                                          static_cast<const char*>(cpu.mapped) + page, bytes);
    return {};
}

void SchedulingRecorder::start() {
    thread_ = std::thread([this] {
        if (Status ran = caught([this] { run(); }); !ran) part_->discard();
    });
}

void SchedulingRecorder::run() {
    std::vector<pollfd> waits{{wake_, POLLIN, 0}};
    for (const Cpu& cpu : cpus_) waits.push_back({cpu.descriptor, POLLIN, 0});
    TimeNs flushed = monotonic_ns();
    bool ends = false;
    while (!ends) {
        if (poll(waits.data(), waits.size(), kWaitMs) < 0 && errno != EINTR) break;
        ends = waits[0].revents != 0;
        if (Status taken = caught([this] { read(); }); !taken) part_->discard();
        TimeNs now = monotonic_ns();
        if (part_->waiting() < kSlicesPerFlush && now - flushed < kSliceFlushInterval) continue;
        (void)flush();
        flushed = now;
    }
    cost_.spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void SchedulingRecorder::read() {
    for (Cpu& cpu : cpus_) {
        records_.clear();
        stretches_.clear();
        std::size_t discarded = cpu.ring->read(records_);
        for (const SwitchRecord& record : records_) cpu.slices.take(record, stretches_);
        if (discarded > 0) cpu.slices.damaged();
        for (const CpuStretch& stretch : stretches_) write(cpu.number, stretch);
        if (part_->waiting() >= kSlicesPerFlush) (void)flush();
    }
}

void SchedulingRecorder::write(int cpu, const CpuStretch& stretch) {
    RowBuffer& row = part_->table("cpu_slice").add();
    row.set("start", stretch.start).set("dur", stretch.dur).set("cpu", cpu);
    if (stretch.end == CpuStretch::End::lost) {
        row.set("end_state", part_->intern("lost"));
        return;
    }
    ++cost_.stretches;
    Keys& keys = keys_[stretch.thread];
    if (keys.process == kNoString) {
        std::string process = fmt::format("{}:{}", host_, stretch.process);
        keys = {part_->intern(process), part_->intern(fmt::format("{}/{}", process, stretch.thread))};
    }
    row.set("process", keys.process).set("thread", keys.thread);
    if (stretch.end == CpuStretch::End::ended || !knows_preemption_) return;
    row.set("end_state", part_->intern(stretch.end == CpuStretch::End::preempted ? "preempted" : "blocked"));
}

Status SchedulingRecorder::flush() {
    keys_.clear();  // they are valid until the next flush
    return part_->flush();
}

Status SchedulingRecorder::stop() {
    if (thread_.joinable()) {
        std::uint64_t one = 1;
        ssize_t ignored = ::write(wake_, &one, sizeof one);
        static_cast<void>(ignored);
        thread_.join();
    }
    std::uint64_t dropped = 0;
    for (Cpu& cpu : cpus_) {
        if (cpu.mapped != nullptr) munmap(cpu.mapped, cpu.bytes);
        if (cpu.descriptor >= 0) close(cpu.descriptor);
        cost_.lost += cpu.slices.lost();
        dropped += cpu.slices.dropped();
    }
    cpus_.clear();
    if (!part_) return {};
    std::unique_ptr<CapturePart> part = std::move(part_);
    if (cost_.lost > 0) part->add_loss("recorder_loss", static_cast<std::int64_t>(cost_.lost), "context switches");
    if (dropped > 0) part->add_loss("unfinished_op", static_cast<std::int64_t>(dropped), "stretches of time on a CPU");
    part->add_fact("scheduling.spent_ns", std::to_string(cost_.spent_ns));
    return part->close();
}

}  // namespace gpuprof::cpu
