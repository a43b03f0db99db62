// nvidia-smi as a source: selects devices from the first rows, turns later rows into readings at their arrival time
// (its own timestamp is local time without a zone), and restarts it when it ends or falls silent.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "collect/device/backoff.h"
#include "collect/device/selection.h"
#include "collect/device/smi/smi_source.h"
#include "collect/device/smi/stream.h"
#include "collect/device/unreported_metrics.h"
#include "core/base/clock.h"

namespace gpuprof::inline device {
namespace nvidia_smi {

namespace {

constexpr DurNs kMinInterval = 50'000'000;  // one query costs nvidia-smi a few ms of CPU time

std::string reason_for(const Row::CellError& error) {
    switch (error.problem) {
        case Problem::unsupported: return fmt::format("nvidia-smi prints {}", error.text);
        case Problem::no_permission:
            return fmt::format(
                "nvidia-smi prints {}; run as a user with permission, or ask the administrator to allow it",
                error.text);
        case Problem::unknown_error:
            return fmt::format("nvidia-smi prints {}; in a container, restart it if this persists", error.text);
        case Problem::unreadable: return fmt::format("nvidia-smi prints \"{}\", an unreadable value", error.text);
        case Problem::implausible: return fmt::format("nvidia-smi prints {}, an implausible value", error.text);
        case Problem::reset_required: return "the GPU needs a reset; run nvidia-smi --gpu-reset, or reboot";
        case Problem::lost: return "the GPU is lost; see the kernel log (dmesg) and reboot if this persists";
    }
    return error.text;
}

bool is_loss(Problem problem) { return problem == Problem::reset_required || problem == Problem::lost; }

// The kind of a problem, so that a changing number does not count as a new one each time.
std::string kind_of(const Row::CellError& error) {
    return fmt::format("{} {}", spec_of(error.metric).name, static_cast<int>(error.problem));
}

class SmiSource final : public DeviceSource {
public:
    SmiSource(Stream stream, const Timeouts& timeouts, DurNs interval)
        : stream_(std::move(stream)),
          timeouts_(timeouts),
          silence_(std::max(timeouts.silence, 10 * interval)),
          restart_(timeouts.restart_first, timeouts.restart_max) {}

    Status choose(const std::vector<Row>& rows, const SourceRequest& request);
    void note(std::string text) { notes_.push_back(std::move(text)); }

    std::string_view name() const override { return "smi"; }
    std::span<const SampledDevice> devices() const override { return devices_; }
    std::vector<std::string> notes() const override { return notes_; }
    void collect(MetricSet due, PollResult& to) override;

private:
    struct State {
        std::set<std::string> said;
        UnreportedMetrics absences;
        TimeNs seen = 0;  // monotonic
        bool lost = false;
    };
    void take(const Row& row, TimeNs now, PollResult& to);
    void report_row(const Row& row, std::size_t position, PollResult& to);
    void lose(std::size_t position, std::string_view why, PollResult& to);
    void fail(std::string_view why, TimeNs now, PollResult& to);
    void watch(TimeNs now, PollResult& to);

    Stream stream_;
    Timeouts timeouts_;
    DurNs silence_;
    Backoff restart_;
    std::vector<SampledDevice> devices_;
    std::vector<State> states_;
    std::vector<std::string> notes_;
    std::vector<Row> rows_;  // of this turn, and the initial ones
    TimeNs heard_ = 0, down_since_ = 0;
    bool gave_up_ = false;
};

Status SmiSource::choose(const std::vector<Row>& rows, const SourceRequest& request) {
    std::vector<MachineDevice> machine;
    for (const Row& row : rows) machine.push_back({row.name, row.uuid, {}});
    const char* order = std::getenv("CUDA_DEVICE_ORDER");
    Result<Selection> selection =
        select_devices(machine, {request.devices, request.visible_set, request.visible_devices,
                                 order && std::string_view(order) == "PCI_BUS_ID"});
    if (!selection) return selection.error();
    for (const SelectedDevice& selected : selection->devices) {
        const Row& row = rows[static_cast<std::size_t>(selected.machine)];
        SampledDevice device;
        device.device = selected.device;
        device.nvml_index = row.index;
        device.name = row.name;
        device.uuid = row.uuid;
        device.pci_bus_id = row.pci_bus_id;
        device.power_limit_w = row.power_limit_w;
        device.sm_clock_max_mhz = row.sm_clock_max_mhz;
        device.mem_clock_max_mhz = row.mem_clock_max_mhz;
        if (row.mig)
            note(fmt::format("GPU {} is divided into MIG instances, which nvidia-smi cannot sample individually.",
                             device.device));
        devices_.push_back(std::move(device));
    }
    states_.resize(devices_.size());
    for (std::string& text : selection->notes) note(std::move(text));
    heard_ = monotonic_ns();
    for (State& state : states_) state.seen = heard_;
    for (std::size_t i = 0; i < devices_.size(); ++i)
        states_[i].absences.add(stream_.refused(), "this nvidia-smi lacks the field");
    rows_ = rows;
    return {};
}

void SmiSource::collect(MetricSet, PollResult& to) {
    TimeNs now = monotonic_ns();
    if (!stream_.running()) {
        if (gave_up_ || !restart_.due(now)) return;
        if (Status started = stream_.restart(); !started) return fail(started.error().message, now, to);
        heard_ = now;
        for (State& state : states_) state.seen = now;
    }
    bool open = stream_.read(rows_);
    if (!rows_.empty()) {
        if (down_since_ != 0)
            to.faults.push_back({realtime_ns(),
                                 -1,
                                 {},
                                 false,
                                 fmt::format("nvidia-smi responds again after {:.1f} s.",
                                             static_cast<double>(now - down_since_) / 1e9)});
        heard_ = now;
        down_since_ = 0;
        restart_.reset();
    }
    for (const Row& row : rows_) take(row, now, to);
    rows_.clear();
    if (!open) return fail(stream_.ending(), now, to);
    if (now - heard_ > silence_) {
        stream_.kill();
        return fail(fmt::format("no output for {:.1f} s", static_cast<double>(now - heard_) / 1e9), now, to);
    }
    watch(now, to);
}

void SmiSource::take(const Row& row, TimeNs now, PollResult& to) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const SampledDevice& device = devices_[i];
        if (device.uuid.empty() || row.uuid.empty() ? device.nvml_index != row.index : device.uuid != row.uuid)
            continue;
        states_[i].seen = now;
        report_row(row, i, to);
        if (row.reading.present.empty()) return;
        to.readings.push_back(row.reading);
        to.readings.back().time = realtime_ns();
        to.readings.back().device = device.device;
    }
}

void SmiSource::report_row(const Row& row, std::size_t position, PollResult& to) {
    State& state = states_[position];
    bool lost = false;
    for (const Row::CellError& error : row.errors) {
        if (is_loss(error.problem)) {
            if (!std::exchange(lost, true)) lose(position, reason_for(error), to);
        } else if (state.said.insert(kind_of(error)).second) {
            state.absences.add({error.metric}, reason_for(error));
        }
    }
    if (!lost) state.lost = false;
    state.absences.report(realtime_ns(), devices_[position].device, to.faults);
}

void SmiSource::lose(std::size_t position, std::string_view why, PollResult& to) {
    if (std::exchange(states_[position].lost, true)) return;
    std::int32_t device = devices_[position].device;
    to.faults.push_back({realtime_ns(), device, {}, true, fmt::format("GPU {} stopped responding: {}.", device, why)});
}

// Detects devices without rows while others continue.
void SmiSource::watch(TimeNs now, PollResult& to) {
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (now - states_[i].seen > silence_ && now - heard_ < silence_)
            lose(i, "nvidia-smi no longer lists it; see the kernel log (dmesg)", to);
}

void SmiSource::fail(std::string_view why, TimeNs now, PollResult& to) {
    restart_.fail(now);
    gave_up_ = restart_.failures() > timeouts_.restarts;
    if (down_since_ == 0) {
        down_since_ = now;
        to.faults.push_back(
            {realtime_ns(), -1, {}, true, fmt::format("nvidia-smi ended ({}) and is being restarted.", why)});
    } else if (gave_up_) {
        to.faults.push_back(
            {realtime_ns(),
             -1,
             {},
             true,
             fmt::format("nvidia-smi failed {} times in a row ({}); giving up.", restart_.failures(), why)});
    }
}

}  // namespace

Result<std::unique_ptr<DeviceSource>> open(const SourceRequest& request, const Timeouts& timeouts) {
    std::string program = find_nvidia_smi();
    if (program.empty()) {
        std::string missing = "nvidia-smi not found in PATH, /usr/bin or /usr/lib/wsl/lib";
        if (request.backend == "smi")  // otherwise NVML's error says so
            missing +=
                "; install the driver's utilities, or in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility";
        return Error{ExitCode::empty, missing};
    }
    if (std::find(request.avoid.begin(), request.avoid.end(), "nvidia-smi") != request.avoid.end())
        return Error{ExitCode::empty, program + " hung before and is skipped"};
    DurNs interval = std::max(request.interval, kMinInterval);
    Stream stream(program, interval);
    Result<std::vector<Row>> rows = stream.open(timeouts.start);
    if (!rows) return Error{ExitCode::empty, fmt::format("{} printed no rows ({})", program, rows.error().message)};
    auto source = std::make_unique<SmiSource>(std::move(stream), timeouts, interval);
    if (Status chosen = source->choose(*rows, request); !chosen) return chosen.error();
    source->note(
        "nvidia-smi reports no energy counter, GPM metrics, Xid errors or use by process; the time of a reading "
        "is the arrival of its row.");
    if (interval > request.interval)
        source->note(fmt::format("nvidia-smi is sampled every {} ms; a shorter interval would cost too much CPU time.",
                                 interval / 1'000'000));
    return std::unique_ptr<DeviceSource>(std::move(source));
}

}  // namespace nvidia_smi

Result<std::unique_ptr<DeviceSource>> open_smi(const SourceRequest& request) { return nvidia_smi::open(request, {}); }

}  // namespace gpuprof::device
