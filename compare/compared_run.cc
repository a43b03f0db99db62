// See the header. Kernels and copies belong to the step that launched them if steps are host ranges, otherwise to the
// step in which they begin; busy time is cut at the ends of steps.
#include "compare/compared_run.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/stat.h"
#include "compare/recording.h"
#include "core/base/parallel.h"
#include "core/model/select_interval.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

Interval cut(Interval interval, Interval stretch) {
    return {std::max(interval.start, stretch.start), std::min(interval.end, stretch.end)};
}

// Visits the rows of a table in the order of their starts, and credits each with the time in the interval that earlier
// rows do not cover.
template <class Table, class Take>
void each_added(const Table& table, std::int64_t only, Interval stretch, Take&& take) {
    std::map<std::int32_t, TimeNs> until;
    TimeNs* last = nullptr;
    std::int32_t last_device = 0;
    for (Row row = 0; row < table.rows && table.start[row] < stretch.end; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only >= 0 && device != only) continue;
        TimeNs start = table.start[row], end = start + table.dur[row];
        if (end <= stretch.start) continue;
        if (last == nullptr || device != last_device) last = &until.try_emplace(device, start).first->second;
        last_device = device;
        Interval added = cut({std::max(start, *last), end}, stretch);
        *last = std::max(*last, end);
        if (added.length() > 0) take(row, device, added);
    }
}

using SetOf = std::map<std::int32_t, IntervalSet>;

std::string text_of(const Trace& trace, const Column<StringId>& column, Row row) {
    return column.has(row) ? std::string(trace.text(column[row])) : "unknown";
}

}  // namespace

DeviceTime device_time(const Facts& facts, Interval stretch) {
    const Trace& trace = facts.trace();
    std::int64_t only = facts.options().device;
    DeviceTime found;
    SetOf kernels, kernels_and_copies;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        if (length_within(device.busy, stretch) == 0) continue;
        ++found.devices;
        kernels[device.device] = device.kernel();
        kernels_and_copies[device.device] = unite(device.kernel(), device.memcpy);
    }
    std::vector<WideSum> by_name(trace.strings().size() + 1);  // the last is "no name"
    each_added(trace.kernel(), only, stretch, [&](Row row, std::int32_t, Interval added) {
        StringId name = trace.kernel().name.value_or(row, kNoString);
        by_name[name == kNoString ? by_name.size() - 1 : index_of(name)].add(added.length());
    });
    for (std::size_t i = 0; i < by_name.size(); ++i)
        if (!(by_name[i] == WideSum{}))
            found.kernels.emplace_back(i + 1 == by_name.size() ? kNoString : StringId{static_cast<std::uint32_t>(i)},
                                       by_name[i]);
    auto add_hidden = [&](std::string_view kind, const auto& table, const SetOf& hiding) {
        each_added(table, only, stretch, [&](Row row, std::int32_t device, Interval added) {
            DurNs hidden = length_within(hiding.at(device), added);
            found.others[{kind, text_of(trace, table.kind, row)}].add(added.length() - hidden);
        });
    };
    add_hidden("memcpy", trace.memcpy(), kernels);
    add_hidden("memset", trace.memset(), kernels_and_copies);
    for (const IdleSpan& span : facts.get<IdleSpans>().spans) {
        if (!kernels.contains(span.device)) continue;
        Interval inside = cut({span.start, span.start + span.dur}, stretch);
        if (inside.length() > 0) found.others[{"idle", std::string(name_of(span.cause))}].add(inside.length());
    }
    return found;
}

namespace {

// A first step this many times as long as the median of the following ones is warm-up: modules are loaded, kernels are
// tuned.
constexpr double kWarmUp = 1.5;
constexpr std::size_t kMinStepsLeft = 3;  // steps

constexpr double kMiB = 1024 * 1024;

// By step, the durations of what it launched, or of what began in it if launches are unknown. The sum covers what began
// in the span.
template <class Table>
void add_durations(const Trace& trace, const Table& table, const PodVector<Row>& launches, const Run& run,
                   std::int64_t only, Measured& to) {
    const std::vector<Step>& steps = run.steps.steps;
    bool of_host = run.steps.method == StepMethod::ranges;
    WideSum all;
    to.samples.assign(steps.size(), 0);
    for (Row row = 0; row < table.rows; ++row) {
        if (only >= 0 && table.device.value_or(row, -1) != only) continue;
        TimeNs start = table.start[row], at = start;
        if (start >= run.span.start && start < run.span.end) all.add(table.dur[row]);
        if (of_host && launches[row] != kNoRow) at = trace.api_call().start[launches[row]];
        if (std::optional<std::size_t> step = step_at(steps, at))
            to.samples[*step] += static_cast<double>(table.dur[row]);
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

// Excludes warm-up steps, but not more than half of all. Returns their number.
std::size_t leave_out_warm_up(std::vector<Step>& steps) {
    std::size_t left_out = 0;
    for (std::size_t most = steps.size() / 2; left_out < most && steps.size() - left_out > kMinStepsLeft; ++left_out) {
        std::vector<double> behind;
        for (std::size_t i = left_out + 1; i < steps.size(); ++i)
            behind.push_back(static_cast<double>(steps[i].end - steps[i].start));
        auto length = static_cast<double>(steps[left_out].end - steps[left_out].start);
        if (length <= kWarmUp * measure::statistics_of(behind).median) break;
    }
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(left_out));
    return left_out;
}

void measure(Run& run, const Facts& whole) {
    auto metric = [&](Metric which) -> Measured& { return run.metrics[static_cast<std::size_t>(which)]; };
    std::int64_t only = whole.options().device;
    const std::vector<Step>& steps = run.steps.steps;
    std::vector<const DeviceActivity*> devices;
    for (const DeviceActivity& device : whole.get<Activity>().devices)
        if (length_within(device.busy, run.span) > 0) devices.push_back(&device);
    auto busy_within = [&](Interval stretch) {
        DurNs busy = 0;
        for (const DeviceActivity* device : devices) busy += length_within(device->busy, stretch);
        return static_cast<double>(busy);
    };
    auto idle_within = [&](Interval stretch) {
        return static_cast<double>(stretch.length()) * static_cast<double>(devices.size()) - busy_within(stretch);
    };
    metric(Metric::wall_time).value = static_cast<double>(run.span.length());
    run.energy = energy_of(whole, steps, run.span);
    metric(Metric::energy) = {run.energy.joules, run.energy.blocks};
    metric(Metric::busy).value = busy_within(run.span);
    metric(Metric::idle).value = idle_within(run.span);
    const Trace& trace = whole.trace();
    add_durations(trace, trace.kernel(), trace.links().kernel_launch, run, only, metric(Metric::kernel_time));
    add_durations(trace, trace.memcpy(), trace.links().memcpy_launch, run, only, metric(Metric::memcpy_time));
    for (const Step& step : steps) {
        for (Metric length : {Metric::step_p50, Metric::step_mean, Metric::step_p95, Metric::step_total})
            metric(length).samples.push_back(static_cast<double>(step.end - step.start));
        metric(Metric::busy).samples.push_back(busy_within({step.start, step.end}));
        metric(Metric::idle).samples.push_back(idle_within({step.start, step.end}));
    }
    for (Measured& each : run.metrics)
        if (each.value) *each.value /= static_cast<double>(run.parts());
    if (!steps.empty()) {
        measure::Statistics lengths = measure::statistics_of(metric(Metric::step_p50).samples);
        metric(Metric::step_p50).value = lengths.median;
        metric(Metric::step_mean).value = lengths.mean;
        metric(Metric::step_p95).value = lengths.p95;
        metric(Metric::step_total).value = lengths.mean * static_cast<double>(lengths.count);
    }
}

// Durations that only cover submitting work are not step durations.
void leave_out_lengths(Run& run) {
    for (Measured& each : run.metrics) each.samples.clear();
    for (Metric length : {Metric::step_p50, Metric::step_mean, Metric::step_p95, Metric::step_total})
        run.metrics[static_cast<std::size_t>(length)].value.reset();
}

Run run_of(Recording recording, const StepChoice& choice) {
    Run run;
    run.steps = recording.steps(choice.method);
    if (choice.method == StepMethod::none) run.steps.note = recording.steps(StepMethod::ranges).note;
    run.steps_because = choice.because;
    if (choice.method == StepMethod::ranges) run.backlog_pct = recording.backlog_pct();
    if (!run.backlog_pct) run.warm_up = leave_out_warm_up(run.steps.steps);
    const std::vector<Step>& steps = run.steps.steps;
    Interval window = recording.trace().window();
    run.span = steps.empty() ? window : Interval{steps.front().start, run.backlog_pct ? window.end : steps.back().end};
    run.time = device_time(recording.facts(), run.span);
    measure(run, recording.facts());
    if (run.backlog_pct) leave_out_lengths(run);
    Options options = recording.facts().options();
    if (steps.empty()) {
        std::tie(run.trace, run.facts) = recording.take_with_facts();
    } else {
        run.trace = std::make_unique<Trace>(select_interval(recording.take(), run.span));
        run.facts = std::make_unique<Facts>(*run.trace, options);
        run.facts->put(run.steps);
    }
    run.metrics[static_cast<std::size_t>(Metric::peak_memory)].value = peak_memory(*run.trace, options.device);
    return run;
}

}  // namespace

Run run_of(Trace trace, const Options& options) {
    Recording recording(std::move(trace), options);
    StepChoice choice = choose_steps(recording);
    return run_of(std::move(recording), choice);
}

Run run_of(Trace trace, const Options& options, StepMethod method) {
    return run_of(Recording(std::move(trace), options), StepChoice{method, ""});
}

std::array<Run, 2> runs_by_same_steps(Trace base, Trace next, const Options& options) {
    std::array<Recording, 2> recordings = {Recording(std::move(base), options), Recording(std::move(next), options)};
    StepChoice choice = choose_steps(recordings[0], recordings[1]);
    std::array<Run, 2> runs;
    run_parallel(2, 2, [&](std::size_t side, unsigned) { runs[side] = run_of(std::move(recordings[side]), choice); });
    return runs;
}

}  // namespace gpuprof::compare
