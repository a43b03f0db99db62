// See the header. Device work belongs to the step that it begins in; busy time is cut at the ends of steps.
#include "compare/run.h"

#include <algorithm>
#include <map>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/stat.h"
#include "core/model/part.h"

namespace gpuprof::compare {
namespace {

// Device work after the last step that makes step lengths doubtful: percent of all, and this part of a step's.
constexpr double kBacklog = 10, kBacklogOfStep = 0.5;
constexpr double kMiB = 1024 * 1024;

std::optional<double> backlog_of(const Facts& whole, const Steps& found) {
    if (found.steps.empty()) return std::nullopt;
    double after = 0, all = 0;
    for (const DeviceActivity& device : whole.get<Activity>().devices) {
        after += static_cast<double>(length_within(device.busy, {found.steps.back().end, whole.trace().window().end}));
        all += static_cast<double>(length(device.busy));
    }
    double pct = all > 0 ? 100 * after / all : 0;
    bool half_a_step = pct / 100 * static_cast<double>(found.steps.size()) >= kBacklogOfStep;
    return pct >= kBacklog && half_a_step ? std::optional(pct) : std::nullopt;
}

// Sum of durations of the ops that begin in each step.
template <class Table>
void add_durations(const Table& table, const std::vector<Step>& steps, std::int64_t only, Measured& to) {
    WideSum all;
    to.samples.assign(steps.size(), 0);
    std::size_t at = 0;
    for (Row row = 0; row < table.rows; ++row) {
        if (only >= 0 && table.device.value_or(row, -1) != only) continue;
        all.add(table.dur[row]);
        while (at < steps.size() && steps[at].end <= table.start[row]) ++at;
        if (at < steps.size() && steps[at].start <= table.start[row])
            to.samples[at] += static_cast<double>(table.dur[row]);
    }
    to.value = all.real();
}

std::optional<double> peak_memory(const Trace& trace, std::int64_t only) {
    std::map<std::int32_t, double> peaks;
    auto add = [&](std::int32_t device, double bytes) {
        if (only < 0 || device == only) peaks[device] = std::max(peaks[device], bytes);
    };
    const MemoryEventTable& events = trace.tables().memory_event;
    for (Row row = 0; row < events.rows; ++row)
        if (events.device.has(row) && events.total_allocated.has(row))
            add(events.device[row], static_cast<double>(events.total_allocated[row]));
    const SampleTable& samples = trace.tables().sample;
    if (peaks.empty())
        for (Row row = 0; row < samples.rows; ++row)
            if (samples.metric.has(row) && !samples.pid.has(row) && trace.text(samples.metric[row]) == "mem.used")
                add(samples.device.value_or(row, -1), samples.value[row] * kMiB);
    if (peaks.empty()) return std::nullopt;
    double sum = 0;
    for (const auto& [device, bytes] : peaks) sum += bytes;
    return sum;
}

void measure(Run& run, std::int64_t only) {
    auto metric = [&](Metric which) -> Measured& { return run.metrics[static_cast<std::size_t>(which)]; };
    const std::vector<Step>& steps = run.steps.steps;
    const std::vector<DeviceActivity>& activity = run.facts->get<Activity>().devices;
    auto window = static_cast<double>(run.trace->window().length());
    double busy = 0;
    for (const DeviceActivity& device : activity) busy += static_cast<double>(length(device.busy));
    metric(Metric::wall_time).value = window;
    metric(Metric::busy).value = busy;
    metric(Metric::idle).value = window * static_cast<double>(activity.size()) - busy;
    add_durations(run.trace->kernel(), steps, only, metric(Metric::kernel_time));
    add_durations(run.trace->memcpy(), steps, only, metric(Metric::memcpy_time));
    std::vector<std::int64_t> lengths;
    for (const Step& step : steps) {
        DurNs inside = 0;
        for (const DeviceActivity& device : activity) inside += length_within(device.busy, {step.start, step.end});
        lengths.push_back(step.end - step.start);
        auto length = static_cast<double>(lengths.back());
        metric(Metric::step_p50).samples.push_back(length);
        metric(Metric::busy).samples.push_back(static_cast<double>(inside));
        metric(Metric::idle)
            .samples.push_back(length * static_cast<double>(activity.size()) - static_cast<double>(inside));
    }
    for (Measured& each : run.metrics)
        if (each.value) *each.value /= static_cast<double>(run.parts());
    if (!lengths.empty()) metric(Metric::step_p50).value = static_cast<double>(nearest_rank(lengths, 50));
    metric(Metric::peak_memory).value = peak_memory(*run.trace, only);
}

}  // namespace

Run run_of(Trace trace, const Options& options) {
    Run run;
    {
        Facts whole(trace, options);
        run.steps = find_steps(whole);
        run.backlog_pct = backlog_of(whole, run.steps);
    }
    const std::vector<Step>& steps = run.steps.steps;
    TimeNs end = run.backlog_pct || steps.empty() ? trace.window().end : steps.back().end;
    if (!steps.empty()) trace = part_of(std::move(trace), {steps.front().start, end});
    run.trace = std::make_unique<Trace>(std::move(trace));
    run.facts = std::make_unique<Facts>(*run.trace, options);
    measure(run, options.device);
    if (run.backlog_pct) {
        for (Measured& each : run.metrics) each.samples.clear();
        run.metrics[static_cast<std::size_t>(Metric::step_p50)].value.reset();
    }
    return run;
}

}  // namespace gpuprof::compare
