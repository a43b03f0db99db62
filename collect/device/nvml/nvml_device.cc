// One turn: finds a lost device again, runs every query that is due, then decides what the failures mean together.
#include "collect/device/nvml/nvml_device.h"

#include <fmt/format.h>

#include "collect/device/nvml/queries.h"
#include "core/base/clock.h"
#include "core/schema/plausible.h"

namespace gpuprof::inline device::nvml {

namespace {

constexpr int kFalseLosses = 3;  // after so many false reports a query is dropped

MetricSet without(MetricSet set, MetricSet other) { return MetricSet(set.bits() & ~other.bits()); }

std::optional<double> scaled(Return code, double value, Metric like) {
    if (code != kSuccess || !plausible(like, value)) return std::nullopt;
    return value;
}

}  // namespace

SampledGpu::SampledGpu(const Api& api, const RetryDelays& delays, SampledDevice facts, Identity self, Identity gpu)
    : api_(api),
      delays_(delays),
      facts_(std::move(facts)),
      self_(std::move(self)),
      gpu_(std::move(gpu)),
      retries_(queries().size() + 1, Backoff(delays.query_first, delays.query_max)),
      false_losses_(queries().size() + 1, 0),
      search_(delays.device_first, delays.device_max) {}

std::string SampledGpu::label() const { return fmt::format("GPU {}", facts_.device); }

void SampledGpu::read_facts() {
    unsigned value = 0;
    Return code = api_.nvmlDeviceGetEnforcedPowerLimit(handle_, &value);
    facts_.power_limit_w = scaled(code, value / 1e3, Metric::power);
    code = api_.nvmlDeviceGetMaxClockInfo(handle_, kClockSm, &value);
    facts_.sm_clock_max_mhz = scaled(code, value, Metric::sm_clock);
    code = api_.nvmlDeviceGetMaxClockInfo(handle_, kClockMem, &value);
    facts_.mem_clock_max_mhz = scaled(code, value, Metric::mem_clock);
    facts_.pci_bus_id = pci_bus_id_of(api_, gpu_handle_);
    facts_known_ = true;
}

Return SampledGpu::find() {
    handle_ = gpu_handle_ = nullptr;
    if (Return code = find_device(api_, gpu_, gpu_handle_); code != kSuccess) return code;
    handle_ = gpu_handle_;
    if (facts_.mig)
        if (Return code = find_device(api_, self_, handle_); code != kSuccess) return code;
    if (!facts_known_) read_facts();
    return kSuccess;
}

void SampledGpu::release() {
    gpm_.close();
    handle_ = gpu_handle_ = nullptr;
    for (Backoff& retry : retries_) retry.reset();
}

void SampledGpu::begin_lost(Return code) {
    lost_code_ = code;
    lost_since_ = 0;
    search_.reset();
}

void SampledGpu::leave_out(MetricSet metrics, Return code) {
    metrics = without(metrics, left_out_);
    if (metrics.empty()) return;
    left_out_ = left_out_ | metrics;
    bool because_mig = facts_.mig && (code == kNotSupported || code == kInvalidArgument);
    unreported_.add(metrics, because_mig ? "NVML does not report it for a MIG instance" : explain(code));
}

void SampledGpu::warn_once(PollCycle& cycle, MetricSet metrics, std::string sentence) {
    if (!warned_.insert(sentence).second) return;
    cycle.to.faults.push_back({cycle.reading.time, facts_.device, metrics, false, std::move(sentence)});
}

Return SampledGpu::collect(MetricSet due, PollResult& to) {
    PollCycle cycle{.to = to, .due = due, .now = monotonic_ns()};
    cycle.reading.time = realtime_ns();
    cycle.reading.device = facts_.device;
    if (lost_code_ != kSuccess && !recover(cycle)) return kSuccess;
    ask(cycle);
    unreported_.report(cycle.reading.time, facts_.device, to.faults);
    if (lost_code_ == kSuccess) ask_processes(cycle);
    if (!cycle.reading.present.empty()) to.readings.push_back(cycle.reading);
    if (cycle.renew != kSuccess && cycle.answered == 0) return cycle.renew;
    for (const Failure& failure : cycle.failures)
        warn_once(cycle, failure.metrics,
                  fmt::format("{} temporarily does not report {}: {} failed, {}. The query will be retried.", label(),
                              names_of(failure.metrics), failure.function, explain(failure.code)));
    return kSuccess;
}

void SampledGpu::ask(PollCycle& cycle) {
    for (std::size_t i = 0; i < queries().size() && lost_code_ == kSuccess; ++i) {
        MetricSet wanted = without(queries()[i].metrics & cycle.due, left_out_);
        if (!wanted.empty() && retries_[i].due(cycle.now)) ask_query(i, wanted, cycle);
    }
    if (lost_code_ == kSuccess) ask_gpm(cycle);
    if (cycle.due.has(Metric::xid_errors) && xid_errors && lost_code_ == kSuccess)
        cycle.reading.set(Metric::xid_errors, *xid_errors);
}

void SampledGpu::ask_query(std::size_t index, MetricSet wanted, PollCycle& cycle) {
    const Query& query = queries()[index];
    Reading answer;
    Return code = query.read(api_, handle_, answer);
    if (code != kSuccess) return react(index, {wanted, query.function, code}, cycle);
    retries_[index].reset();
    ++cycle.answered;
    take(wanted, answer, cycle);
}

void SampledGpu::take(MetricSet wanted, const Reading& answer, PollCycle& cycle) {
    std::optional<double> total = answer.get(Metric::mem_total);
    if (total && plausible(Metric::mem_total, *total)) total_mb_ = total;
    for (const MetricSpec& spec : kMetrics) {
        if (!wanted.has(spec.metric) || !answer.present.has(spec.metric)) continue;
        double value = answer.values[index_of(spec.metric)];
        bool too_much = spec.metric == Metric::mem_used && total && value > *total;
        if (!too_much && plausible(spec.metric, value)) {
            cycle.reading.set(spec.metric, value);
            continue;
        }
        MetricSet one{spec.metric};
        if (warned_.insert(fmt::format("implausible {}", spec.name)).second)
            cycle.to.faults.push_back(
                {cycle.reading.time, facts_.device, one, false,
                 fmt::format("{} reported an implausible value, {} = {} {}; such values are dropped.", label(),
                             spec.name, value,
                             too_much ? fmt::format("MiB of {}", *total) : std::string(name_of(spec.unit)))});
    }
}

void SampledGpu::react(std::size_t index, const Failure& failure, PollCycle& cycle) {
    switch (reaction_to(failure.code)) {
        case Reaction::none: return;
        case Reaction::absent: return leave_out(failure.metrics, failure.code);
        case Reaction::lost: return lose(index, failure.code, cycle);
        case Reaction::renew: cycle.renew = failure.code; break;
        case Reaction::retry: break;
    }
    retries_[index].fail(cycle.now);
    cycle.failures.push_back(failure);
}

void SampledGpu::ask_gpm(PollCycle& cycle) {
    std::size_t index = queries().size();
    MetricSet wanted = without(MetricSet::of(Cadence::gpm) & cycle.due, left_out_);
    if (wanted.empty() || !retries_[index].due(cycle.now)) return;
    if (!gpm_.is_open()) {
        std::optional<unsigned> instance;
        unsigned id = 0;
        Return code = facts_.mig ? api_.nvmlDeviceGetGpuInstanceId(handle_, &id) : kSuccess;
        if (facts_.mig) instance = id;
        if (code == kSuccess) code = gpm_.open(api_, gpu_handle_, instance);
        if (code != kSuccess) return react(index, {wanted, "nvmlGpmQueryDeviceSupport", code}, cycle);
    }
    Reading answer;
    gpm_failed_.clear();
    Return code = gpm_.read(wanted, answer, gpm_failed_);
    if (code != kSuccess) return react(index, {wanted, "nvmlGpmSampleGet", code}, cycle);
    retries_[index].reset();
    ++cycle.answered;
    take(wanted, answer, cycle);
    for (const auto& [metric, why] : gpm_failed_)
        if (reaction_to(why) == Reaction::absent)
            leave_out({metric}, why);
        else
            cycle.failures.push_back({{metric}, "nvmlGpmMetricsGet", why});
}

void SampledGpu::ask_processes(PollCycle& cycle) {
    if ((cycle.due & MetricSet::of(Cadence::slow)).empty() || !processes_work_) return;
    Return code = processes_.read(api_, handle_, total_mb_, cycle.reading.time, facts_.device, cycle.to.processes);
    if (code == kSuccess) return;
    processes_work_ = reaction_to(code) != Reaction::absent;
    warn_once(cycle, {},
              fmt::format("{} does not report which processes use it{}: {}.", label(),
                          processes_work_ ? " at the moment" : "", explain(code)));
}

void SampledGpu::lose(std::size_t by_query, Return code, PollCycle& cycle) {
    if (false_losses_[by_query] >= kFalseLosses) {
        MetricSet metrics = by_query < queries().size() ? queries()[by_query].metrics : MetricSet::of(Cadence::gpm);
        return leave_out(metrics, code);
    }
    lost_code_ = code;
    lost_by_ = by_query;
    lost_since_ = cycle.now;
    gpm_.close();
    search_.reset();
    search_.fail(cycle.now);
    cycle.to.faults.push_back(
        {cycle.reading.time,
         facts_.device,
         {},
         true,
         fmt::format("{} stopped responding: {}. The search for it continues.", label(), explain(code))});
}

// Whether any query other than the one that found the device lost still works.
Return SampledGpu::probe() {
    Return last = kNotSupported;
    for (std::size_t i = 0; i < queries().size(); ++i) {
        if (i == lost_by_ || without(queries()[i].metrics, left_out_).empty()) continue;
        if (!(queries()[i].metrics & MetricSet::of(Cadence::rare)).empty()) continue;
        Reading answer;
        last = queries()[i].read(api_, handle_, answer);
        if (last == kSuccess || reaction_to(last) == Reaction::lost) return last;
    }
    return last;
}

bool SampledGpu::recover(PollCycle& cycle) {
    if (lost_since_ == 0) {  // found lost outside a turn
        lost_since_ = cycle.now;
        lost_by_ = queries().size() + 1;
        cycle.to.faults.push_back(
            {cycle.reading.time,
             facts_.device,
             {},
             true,
             fmt::format("{} cannot be opened: {}. The search for it continues.", label(), explain(lost_code_))});
        search_.fail(cycle.now);
        return false;
    }
    if (!search_.due(cycle.now)) return false;
    Return code = find();
    if (code == kSuccess) code = probe();
    if (code != kSuccess) {
        search_.fail(cycle.now);
        return false;
    }
    bool at_once = search_.failures() == 1;
    if (lost_by_ < false_losses_.size()) false_losses_[lost_by_] = at_once ? false_losses_[lost_by_] + 1 : 0;
    lost_code_ = kSuccess;
    cycle.to.faults.push_back({cycle.reading.time,
                               facts_.device,
                               {},
                               false,
                               fmt::format("{} responds again after {:.1f} s.", label(),
                                           static_cast<double>(cycle.now - lost_since_) / 1e9)});
    return true;
}

}  // namespace gpuprof::device::nvml
