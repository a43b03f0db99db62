// A run's wall time (CLOCK_MONOTONIC) begins before the command starts and ends when the kernel reports its exit. CPU
// time and memory come from wait4(): they cover the command and the descendants that it waited for. Peak memory is that
// of the largest process among them. It includes what this program had resident when it started the command, so smaller
// figures are unknown. A separate process samples the GPU during all counted runs, as `gpu-profile -- CMD` does.
#include "cli/bench/bench_program.h"

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
#include "core/base/text/command_line.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::int64_t kPageSlack = 256 * 1024;

// Resident memory of this program, from which the kernel counts the peak of a started command. Its own rusage would not
// do: that includes what the parent had resident when it started gpu-profile.
std::int64_t own_peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

// The name of the benchmark: the command without secrets, or only its program.
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

    Result<measure::Benchmark> go();

private:
    Status warm_up();
    Status sample();
    Result<measure::ProgramRun> run_once(const std::string& which);
    Status judge(const TargetExit& end, const std::string& which) const;
    void add_devices();
    measure::Benchmark result();

    const ProgramBench& bench_;
    Target target_;  // before any thread exists
    int null_in_, null_out_;
    std::unique_ptr<Monitor> monitor_;
    measure::ProgramUse use_;
    measure::Measurement found_;
    std::int64_t memory_floor_ = 0;
    bool below_floor_ = false;
};

Status ProgramRuns::judge(const TargetExit& end, const std::string& which) const {
    if (end.asked != 0)
        return Error{static_cast<ExitCode>(128 + end.asked), fmt::format("interrupted during {}", which)};
    if (!end.failed() || bench_.ignore_failure) return {};
    std::string how = end.signal != 0 ? fmt::format("was killed by signal {} ({})", end.signal, strsignal(end.signal))
                                      : fmt::format("exited with status {}", end.exit_status);
    return Error{
        ExitCode::unreadable,
        fmt::format("'{}' {} in {}; show its output with --show-output, or count such runs with --ignore-failure",
                    bench_.command[0], how, which)};
}

Result<measure::ProgramRun> ProgramRuns::run_once(const std::string& which) {
    memory_floor_ = own_peak_memory();
    TimeNs begun = monotonic_ns();
    TargetStreams streams{.input = null_in_, .output = bench_.show_output ? STDERR_FILENO : null_out_};
    if (Status started = target_.start(bench_.command, streams); !started) return started.error();
    TargetExit end = target_.wait();
    measure::ProgramRun run;
    run.wall = monotonic_ns() - begun;
    run.user = end.user;
    run.system = end.system;
    run.exit_status = end.exit_status;
    run.signal = end.signal;
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
        Result<measure::ProgramRun> run = run_once(fmt::format("warm-up run {}", i + 1));
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
    measure::Stopping stopping(bench_.rules);
    TimeNs begun = monotonic_ns();
    std::optional<measure::StopReason> reason;
    do {
        Result<measure::ProgramRun> run = run_once(fmt::format("run {}", use_.runs.size() + 1));
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
        measure::ProgramDevice device;
        device.device = summary.device;
        device.name = summary.name;
        device.samples = summary.n_samples;
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

// Conditions that affect how the figures should be read.
void add_notes(measure::Measurement& found) {
    const measure::Statistics& s = found.statistics;
    double fence = s.p75 + 1.5 * (s.p75 - s.p25);
    found.warmup.settled = found.samples.front() <= fence;
    if (!found.warmup.settled) found.notes.push_back("the first counted run is an outlier; increase --warmup-runs");
    if (s.bimodal) found.notes.push_back("wall times are bimodal; the median lies at one of two values");
    if (s.drift) found.notes.push_back(*s.drift > 0 ? "runs get slower over time" : "runs get faster over time");
    if (!s.median_interval) found.notes.push_back("no confidence interval of the median: " + s.no_interval_because);
    if (found.stopped == measure::StopReason::timeout && s.precision)
        found.notes.push_back(
            fmt::format("the timeout came before the median reached the requested precision; it is known within +-{} %",
                        readable_deviation(*s.precision * 100)));
}

measure::Benchmark ProgramRuns::result() {
    found_.name = name_of_command(bench_);
    found_.timer = "host";
    found_.calls = static_cast<std::int64_t>(found_.samples.size());
    found_.statistics = measure::statistics_of(found_.samples);
    add_notes(found_);
    add_devices();
    if (below_floor_)
        use_.no_memory_because = fmt::format(
            "a run used no more than the {} that gpu-profile itself occupies, which the kernel's figure includes",
            readable_bytes(static_cast<double>(memory_floor_)));
    measure::Benchmark benchmark;
    benchmark.measurement = std::move(found_);
    benchmark.settings = bench_.rules;
    benchmark.program = std::move(use_);
    return benchmark;
}

Result<measure::Benchmark> ProgramRuns::go() {
    if (Status warm = warm_up(); !warm) return warm.error();
    if (Status sampled = sample(); !sampled) return sampled.error();
    return result();
}

}  // namespace

Result<measure::Benchmark> bench_program(const ProgramBench& bench) { return ProgramRuns(bench).go(); }

}  // namespace gpuprof::cli
