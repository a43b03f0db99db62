// Time is from before the command is started until the kernel says that it has ended, by CLOCK_MONOTONIC. Processor time and
// memory are the kernel's account of the command and of the descendants that it waited for (wait4). Memory is that of the
// largest process among them, and holds what this program had when it started the command: a smaller figure cannot be told.
// The GPU is sampled beside all counted runs, by a process of its own, as `gpu-profile -- CMD` does.
#include "cli/bench/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "collect/device/monitor.h"
#include "collect/launch/target.h"
#include "core/base/clock.h"
#include "core/base/command_line.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

using namespace measure;

constexpr std::int64_t kPageSlack = 256 * 1024;

// Of this program's own memory, which is what the kernel begins to count a started one with. Its rusage would also have what the
// program had that started gpu-profile.
std::int64_t own_peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

// What the benchmark is called: the command without secrets, or only its program.
std::string name_of_command(const ProgramBench& bench) {
    const std::string& program = bench.command[0];
    return bench.no_command_line ? program.substr(program.rfind('/') + 1) : without_secrets(bench.command);
}

class ProgramRuns {
public:
    explicit ProgramRuns(const ProgramBench& bench) : bench_(bench) {
        null_in_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
        null_out_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    ~ProgramRuns() {
        close(null_in_);
        close(null_out_);
    }
    ProgramRuns(const ProgramRuns&) = delete;
    ProgramRuns& operator=(const ProgramRuns&) = delete;

    Result<Benchmark> go();

private:
    Status warm_up();
    Status sample();
    Result<ProgramRun> run_once(const std::string& which);
    Status judge(const TargetEnd& end, const std::string& which) const;
    void add_devices();
    Benchmark result();

    const ProgramBench& bench_;
    Target target_;  // before any thread
    int null_in_, null_out_;
    std::unique_ptr<Monitor> monitor_;
    ProgramUse use_;
    Measurement found_;
    std::int64_t memory_floor_ = 0;
    bool below_floor_ = false;
};

Status ProgramRuns::judge(const TargetEnd& end, const std::string& which) const {
    if (end.asked != 0) return Error{static_cast<ExitCode>(128 + end.asked), fmt::format("interrupted in {}", which)};
    if (!end.failed() || bench_.ignore_failure) return {};
    std::string how = end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal))
                                      : fmt::format("ended with status {}", end.exit_status);
    return Error{ExitCode::unreadable,
                 fmt::format("{} {} in {}; --show-output shows what it prints, --ignore-failure counts such runs",
                             bench_.command[0], how, which)};
}

Result<ProgramRun> ProgramRuns::run_once(const std::string& which) {
    memory_floor_ = own_peak_memory();
    TimeNs begun = monotonic_ns();
    TargetStreams streams{.input = null_in_, .output = bench_.show_output ? STDERR_FILENO : null_out_};
    if (Status started = target_.start(bench_.command, streams); !started) return started.error();
    TargetEnd end = target_.wait();
    ProgramRun run;
    run.wall = monotonic_ns() - begun;
    run.user = end.user, run.system = end.system;
    run.exit_status = end.exit_status, run.signal = end.signal;
    if (end.peak_resident_bytes > memory_floor_ + kPageSlack)
        run.peak_memory = end.peak_resident_bytes;
    else
        below_floor_ = true;
    if (Status fine = judge(end, which); !fine) return fine.error();
    return run;
}

Status ProgramRuns::warm_up() {
    TimeNs begun = monotonic_ns();
    for (int i = 0; i < bench_.warmup_runs; ++i) {
        Result<ProgramRun> run = run_once(fmt::format("warm-up run {}", i + 1));
        if (!run.ok()) return run.error();
        use_.warmup.push_back(*run);
    }
    found_.warmup.calls = use_.warmup.size();
    found_.warmup.time = monotonic_ns() - begun;
    if (use_.warmup.empty()) return {};
    found_.warmup.first_ns = static_cast<double>(use_.warmup.front().wall);
    found_.warmup.last_ns = static_cast<double>(use_.warmup.back().wall);
    return {};
}

Status ProgramRuns::sample() {
    MonitorOptions options;
    options.request.devices = bench_.devices;
    options.request.backend = bench_.backend;
    options.request.see_visible_devices();
    options.start_timeout = -1;  // the runs do not wait for the driver
    monitor_ = std::make_unique<Monitor>(std::move(options));
    if (Status started = monitor_->start(); !started) return started;
    Stopping stopping(bench_.rules);
    TimeNs begun = monotonic_ns();
    std::optional<StopReason> reason;
    do {
        Result<ProgramRun> run = run_once(fmt::format("run {}", use_.runs.size() + 1));
        if (!run.ok()) return run.error();
        use_.runs.push_back(*run);
        found_.samples.push_back(static_cast<double>(run->wall));
        stopping.add(found_.samples.back());
        found_.sampling_time = monotonic_ns() - begun;
        reason = stopping.reason(found_.sampling_time);
    } while (!reason);
    found_.stopped = *reason;
    monitor_->stop();
    return {};
}

void ProgramRuns::add_devices() {
    auto runs = static_cast<double>(use_.runs.size());
    for (const GpuSummary& summary : monitor_->summaries()) {
        if (summary.n_samples == 0) {
            for (const std::string& note : summary.notes)
                use_.no_device_because += (use_.no_device_because.empty() ? "" : "; ") + note;
            continue;
        }
        ProgramDevice device;
        device.device = summary.device, device.name = summary.name, device.samples = summary.n_samples;
        device.busy_pct = summary.util_gpu_mean;
        if (summary.busy_time_est_s) device.busy_s = *summary.busy_time_est_s / runs;
        if (summary.energy_j) {
            device.energy_j = *summary.energy_j / runs;
            device.energy_uncertainty_j = *summary.energy_uncertainty_j / runs;
            device.energy_basis = summary.energy_basis;
        }
        if (summary.mem_used_max_mb) device.peak_memory = *summary.mem_used_max_mb * 1024 * 1024;
        device.notes = summary.notes;
        use_.devices.push_back(std::move(device));
    }
    if (use_.devices.empty() && use_.no_device_because.empty()) use_.no_device_because = "no sample was taken";
}

// What the reader must know that no figure says.
void add_notes(Measurement& found) {
    const Statistics& s = found.statistics;
    double fence = s.p75 + 1.5 * (s.p75 - s.p25);
    found.warmup.settled = found.samples.front() <= fence;
    if (!found.warmup.settled)
        found.notes.push_back("the first run that counts is an outlier: more warm-up runs (--warmup-runs)");
    if (s.bimodal) found.notes.push_back("wall times gather around two values; the median is one of them");
    if (s.drift) found.notes.push_back(*s.drift > 0 ? "runs grow longer" : "runs grow shorter");
    if (!s.median_interval) found.notes.push_back("no interval of the median: " + s.no_interval_because);
    if (found.stopped == StopReason::timeout && s.precision)
        found.notes.push_back(
            fmt::format("the time-out came before the median was known to the precision asked for; "
                        "it is known within +-{} %",
                        readable_deviation(*s.precision * 100)));
}

Benchmark ProgramRuns::result() {
    found_.name = name_of_command(bench_);
    found_.timer = "host";
    found_.calls = static_cast<std::int64_t>(found_.samples.size());
    found_.statistics = statistics_of(found_.samples);
    add_notes(found_);
    add_devices();
    if (below_floor_)
        use_.no_memory_because = fmt::format(
            "a run took no more than the {} of gpu-profile itself, which the kernel counts for what it starts",
            readable_bytes(static_cast<double>(memory_floor_)));
    Benchmark benchmark;
    benchmark.measurement = std::move(found_);
    benchmark.settings = bench_.rules;
    benchmark.program = std::move(use_);
    return benchmark;
}

Result<Benchmark> ProgramRuns::go() {
    if (Status warm = warm_up(); !warm) return warm.error();
    if (Status sampled = sample(); !sampled) return sampled.error();
    return result();
}

}  // namespace

Result<Benchmark> bench_program(const ProgramBench& bench) { return ProgramRuns(bench).go(); }

}  // namespace gpuprof
