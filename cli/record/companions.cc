// What runs alongside a recorded command: samplers of devices and of hardware counters, each in a separate process, and
// readers of CPU use and of Python stacks.
#include "cli/record/companions.h"

#include <fmt/format.h>
#include <unistd.h>
#include <memory>
#include <string>

#include "cli/output.h"
#include "collect/cpu/process_watch.h"
#include "collect/cpu/scheduling.h"
#include "collect/device/monitor.h"
#include "collect/device/sample_capture.h"
#include "collect/pm/counter_watch.h"
#include "collect/python/sampler.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

class DeviceSamples final : public Companion {
public:
    explicit DeviceSamples(double interval) : interval_(interval) {}
    const char* name() const override { return "devices"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<SampleCapture>> opened = SampleCapture::open(part, CapturePart::Publish::at_open);
        if (!opened.ok()) return opened.error();
        part_ = part;
        capture_ = std::move(*opened);
        MonitorOptions options;
        options.request.devices = "all";
        options.request.interval = static_cast<DurNs>(interval_ * 1e9);
        options.start_timeout = -1;
        options.observer = capture_->observer();
        options.request.see_visible_devices();
        monitor_ = std::make_unique<Monitor>(std::move(options));
        return monitor_->start();
    }
    Status stop() override {
        if (!monitor_) return {};
        monitor_->stop();
        bool any = !monitor_->devices().empty();
        Status written = capture_->close();
        if (!any) unlink(part_.c_str());
        return written;
    }

private:
    double interval_;
    std::string part_;
    std::unique_ptr<SampleCapture> capture_;  // outlives the monitor, whose thread writes to it
    std::unique_ptr<Monitor> monitor_;
};

}  // namespace

std::unique_ptr<Companion> record_devices(double interval) { return std::make_unique<DeviceSamples>(interval); }

// CPU use of the recorded command's processes and threads, read from /proc.
namespace {

class CpuUse final : public Companion {
public:
    CpuUse(std::string mark, bool commands) : mark_(std::move(mark)), commands_(commands) {}
    const char* name() const override { return "cpu"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<ProcessWatch>> watch = ProcessWatch::open(part, mark_, commands_);
        if (!watch.ok()) return watch.error();
        watch_ = std::move(*watch);
        return {};
    }
    void started(pid_t target) override { watch_->start(target); }
    void ended() override { watch_->command_ended(); }
    Status stop() override { return watch_->stop(); }
    std::vector<std::string> remarks() const override {
        WatchCost cost = watch_->cost();
        if (cost.max_wait_ns < 2 * ProcessWatch::kDefaultWait) return {};
        return {fmt::format(
            "CPU use was sampled only every {} at times, to limit the cost of reading {} threads to 1 % of a CPU",
            readable_duration(cost.max_wait_ns), cost.threads)};
    }

private:
    std::string mark_;
    bool commands_;
    std::unique_ptr<ProcessWatch> watch_;
};

}  // namespace

std::unique_ptr<Companion> record_cpu_use(const std::string& folder, bool commands) {
    return std::make_unique<CpuUse>("GPUPROF_RECORD_DIR=" + folder, commands);
}

// Slices of CPU time, from context switches that the kernel reports.
namespace {

class Scheduling final : public Companion {
public:
    const char* name() const override { return "scheduling"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<SchedulingRecorder>> recorder = SchedulingRecorder::open(part);
        if (!recorder.ok()) return recorder.error();
        recorder_ = std::move(*recorder);
        return {};
    }
    void started(pid_t) override { recorder_->start(); }
    Status stop() override { return recorder_->stop(); }
    std::vector<std::string> remarks() const override {
        if (recorder_->cost().lost == 0) return {};
        return {fmt::format("{} context switches were lost, because they came faster than they could be read",
                            readable_count(static_cast<std::int64_t>(recorder_->cost().lost)))};
    }

private:
    std::unique_ptr<SchedulingRecorder> recorder_;
};

}  // namespace

std::unique_ptr<Companion> record_scheduling() { return std::make_unique<Scheduling>(); }

// Hardware counters over time during a recording, sampled by a separate process.
namespace {

// Printed at once, not at the end: a run may take days.
void remark(const std::string& sentence) { note("counters over time: " + sentence); }

class CounterSamples final : public Companion {
public:
    CounterSamples(SampleOption option, std::string program)
        : option_(std::move(option)), program_(std::move(program)) {}
    const char* name() const override { return "counters"; }

    // Starts sampling without waiting for it, so that the command starts without delay.
    Status prepare(const std::string& part) override {
        if (option_.counter_hz > kBusyCounterHz)
            remark(fmt::format(
                "decoding samples at {} Hz takes a CPU core or more; samples that it cannot keep up with count as lost",
                option_.counter_hz));
        part_ = part;
        watch_ = std::make_unique<pm::CounterWatch>(pm::CounterOptions{.part = part,
                                                                       .set = option_.counter_set,
                                                                       .program = program_,
                                                                       .interval = option_.counter_interval(),
                                                                       .remark = remark});
        return {};
    }

    void ask_to_stop() override {
        if (watch_) watch_->ask_to_stop();
    }

    Status stop() override {
        if (!watch_) return {};
        watch_->stop();
        if (watch_->lost() > 0)
            remark(fmt::format("{} of {} samples were lost; lower the rate (--sample pm@HZ)", watch_->lost(),
                               watch_->lost() + watch_->sample_times()));
        if (watch_->sample_times() + watch_->lost() == 0) unlink(part_.c_str());
        return {};
    }

private:
    SampleOption option_;
    std::string program_, part_;
    std::unique_ptr<pm::CounterWatch> watch_;
};

}  // namespace

std::unique_ptr<Companion> record_counters(const SampleOption& option, const std::string& program) {
    return std::make_unique<CounterSamples>(option, program);
}

// Python stacks of the recorded command's processes, read from their memory.
namespace {

class PythonStacks final : public Companion {
public:
    PythonStacks(std::string mark, double hz) : mark_(std::move(mark)), hz_(hz) {}
    const char* name() const override { return "python"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<python::StackSampler>> sampler = python::StackSampler::open(part, mark_, hz_);
        if (!sampler.ok()) return sampler.error();
        sampler_ = std::move(*sampler);
        return {};
    }
    void started(pid_t target) override { sampler_->start(target); }
    Status stop() override { return sampler_->stop(); }
    std::vector<std::string> remarks() const override {
        const python::SamplingCounts& counts = sampler_->counts();
        std::vector<std::string> remarks;
        if (counts.refused > 0)
            remarks.push_back(
                "Python stacks were not sampled: this program may not read the command's memory; allow it with "
                "--cap-add "
                "SYS_PTRACE (container), or run as the same user with kernel.yama.ptrace_scope at 0 or 1");
        if (counts.unsupported > 0)
            remarks.push_back(fmt::format(
                "Python stacks were not sampled: CPython 3.{} is not supported (3.9 to 3.14 are)", counts.unsupported));
        if (remarks.empty() && counts.processes == 0)
            remarks.push_back("Python stacks were not sampled: no CPython found in the command's processes");
        if (counts.missed * 20 > counts.ticks)
            remarks.push_back(fmt::format(
                "{} of {} samples of Python stacks were skipped to limit the cost to a fifth of a CPU; lower --python",
                counts.missed, counts.missed + counts.ticks));
        return remarks;
    }

private:
    std::string mark_;
    double hz_;
    std::unique_ptr<python::StackSampler> sampler_;
};

}  // namespace

std::unique_ptr<Companion> record_python(const std::string& folder, double hz) {
    return std::make_unique<PythonStacks>("GPUPROF_RECORD_DIR=" + folder, hz);
}

}  // namespace gpuprof::cli
