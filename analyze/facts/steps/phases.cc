#include "analyze/facts/steps/phases.h"

#include <algorithm>
#include <map>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/facts/steps/step_finder.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline facts {
namespace {

constexpr double kWorthNaming = 0.1;  // of the recording: phases that take less are not named
constexpr double kMostOfPhase = 0.5;  // of a phase: a range that takes as much names it
constexpr double kHardlyBusyPct = 5;  // of a phase: with less, nothing but setting up or clearing away happens in it

double busy_pct_of(const Facts& facts, Interval span) {
    const std::vector<DeviceActivity>& devices = facts.get<Activity>().devices;
    DurNs busy = 0;
    for (const DeviceActivity& device : devices) busy += length_within(device.busy, span);
    double whole = static_cast<double>(span.length()) * static_cast<double>(devices.size());
    return whole > 0 ? 100 * static_cast<double>(busy) / whole : 0;
}

// The name of the ranges that take most of a phase, on the device or, if wanted, on the host; "" if none takes enough. Ranges much
// longer than the phase do not count.
std::string main_range(const Trace& trace, Interval span, bool on_host) {
    std::map<StringId, DurNs> sums;
    auto add = [&](const auto& table, StringId thread) {
        for (Row row = 0; row < table.rows; ++row) {
            Interval range{table.start[row], table.start[row] + table.dur[row]};
            if (!table.name.has(row) || range.length() > 2 * span.length()) continue;
            if constexpr (requires { table.thread; })
                if (table.thread.value_or(row, kNoString) != thread) continue;
            Interval inside{std::max(range.start, span.start), std::min(range.end, span.end)};
            if (inside.length() > 0) sums[table.name[row]] += inside.length();
        }
    };
    const RangeTable& ranges = trace.range();
    if (on_host && ranges.rows > 0) add(ranges, ranges.thread.value_or(0, kNoString));
    std::map<StringId, DurNs> host = std::move(sums);
    sums.clear();
    add(trace.tables().device_range, kNoString);
    for (const auto& [name, time] : host) sums[name] = std::max(sums[name], time);
    auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
    bool enough =
        most != sums.end() && static_cast<double>(most->second) >= kMostOfPhase * static_cast<double>(span.length());
    return enough ? short_name(trace.text(most->first)) : "";
}

// From the first step that is judged to the end of the last; on the device, whose work may run long after its launch.
Interval span_of_steps(const Trace& trace, const Steps& steps, Interval judged) {
    Interval span{std::max(steps.steps.front().start, judged.start), steps.steps.back().end};
    if (steps.method != StepMethod::ranges) return span;
    const KernelTable& kernels = trace.kernel();
    const Interval host = span;
    for (Row row = 0; row < kernels.rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        TimeNs issued = call == kNoRow ? kernels.start[row] : trace.api_call().start[call];
        TimeNs end = kernels.start[row] + kernels.dur[row];
        if (issued < host.start) span.start = std::max(span.start, end);
        if (issued < host.end) span.end = std::max(span.end, end);
    }
    return span;
}

}  // namespace

Phases Phases::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    Interval whole = trace.window(), judged = interval_for_first_answer(facts).value_or(whole);
    const Steps& steps = facts.get<Steps>();
    bool have_steps = !steps.steps.empty();
    Interval main = have_steps ? span_of_steps(trace, steps, judged) : busy_part(trace).value_or(judged);
    main.end = std::clamp(main.end, main.start, whole.end);
    Phases found;
    auto is_long = [&](Interval span) {
        return static_cast<double>(span.length()) >= kWorthNaming * static_cast<double>(whole.length());
    };
    // Work before and after steps that were found from kernels is mostly more of the same.
    bool others = have_steps && (steps.method == StepMethod::ranges || !steps_are_most_of_the_work(facts));
    auto add = [&](Interval span, bool on_host, std::string_view busy, std::string_view hardly_busy) {
        if (!is_long(span)) return;
        Phase phase{main_range(trace, span, on_host), span, busy_pct_of(facts, span)};
        if (phase.name.empty()) phase.name = phase.busy_pct < kHardlyBusyPct ? hardly_busy : busy;
        if (!phase.name.empty()) found.all.push_back(std::move(phase));
    };
    std::string_view more = have_steps ? "" : "other work";
    add({whole.start, main.start}, true, others ? "work before the steps" : more, "start-up");
    add(main, false, have_steps ? "steps" : "most work", "steps");
    add({main.end, whole.end}, true, others ? "work after the steps" : more, "end");
    if (found.all.size() == 1 && found.all.front().span == main) found.all.clear();
    return found;
}

}  // namespace gpuprof::facts
