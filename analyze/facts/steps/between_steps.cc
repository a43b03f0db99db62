#include "analyze/facts/steps/between_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/loaders.h"
#include "analyze/facts/idle/host_sleeps.h"
#include "analyze/facts/steps/step_finder.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline facts {
namespace {

// Leaving a range and entering the next takes up to 50 us in recordings with stacks. Longer pauses of a loop are work of its own.
constexpr DurNs kMinStretch = 200'000;
// Stretches after this part of the steps, with more than this part of all kernels, belong to steps. Logging launches none or a few.
constexpr double kAfterNearlyAll = 0.8, kPartOfSteps = 0.05;
constexpr double kLinkedKernels = 0.9;  // minimum share of kernels with a known launch
constexpr double kMain = 0.5;           // part of the stretches that what names them takes
constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

template <class Visit>
void each_span_on(const Trace& trace, StringId thread, Visit&& visit) {
    auto look = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row)
            if (table.name.has(row) && table.thread.value_or(row, kNoString) == thread)
                visit(table.name[row], Interval{table.start[row], table.start[row] + table.dur[row]});
    };
    look(trace.range());
    look(trace.tables().python_call);
}

// Without them, nothing tells work that is launched between steps from work of steps that runs then.
bool launches_known(const Trace& trace) {
    const PodVector<Row>& launches = trace.links().kernel_launch;
    auto linked = std::count_if(launches.begin(), launches.end(), [](Row call) { return call != kNoRow; });
    return static_cast<double>(linked) >= kLinkedKernels * static_cast<double>(trace.kernel().rows);
}

// When a thread waited for a request, a frame, a message, or a time: no work that could be done elsewhere.
IntervalSet sleeps_of(const Facts& facts, StringId thread) {
    const auto& threads = facts.get<HostSleeps>().of_thread;
    auto slept = threads.find(thread);
    return slept == threads.end() ? IntervalSet() : slept->second.for_work;
}

IntervalSet pauses_between(const Facts& facts, const Steps& steps, const IntervalSet& sleeps) {
    const Loaders& loaders = facts.get<Loaders>();
    Intervals loading;
    each_span_on(facts.trace(), steps.thread, [&](StringId name, Interval span) {
        if (loaders.has(name)) loading.push_back(span);
    });
    IntervalSet others = unite(sleeps, unite(std::move(loading))), found;
    TimeNs last = facts.trace().window().end;
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        Interval pause{steps.steps[i].end, i + 1 < steps.steps.size() ? steps.steps[i + 1].start : last};
        if (pause.length() - length_within(others, pause) > kMinStretch) found.push_back(pause);
    }
    return found;
}

// The name that takes most of the stretches, among spans inside them. Of nested ones the outermost is first.
StringId main_name(const Facts& facts, StringId thread, const IntervalSet& stretches) {
    std::map<StringId, DurNs> sums;
    each_span_on(facts.trace(), thread, [&](StringId name, Interval span) {
        if (length_within(stretches, span) == span.length()) sums[name] += span.length();
    });
    auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
    bool enough =
        most != sums.end() && static_cast<double>(most->second) >= kMain * static_cast<double>(length(stretches));
    return enough ? most->first : kNoString;
}

// Device work around the stretches: when what was launched before is over, and when the first kernel launched after starts.
struct Around {
    std::vector<TimeNs> busy_until, next;  // by stretch
    std::size_t kernels = 0;               // launched in the stretches
};

Around work_around(const Trace& trace, const IntervalSet& stretches) {
    Around found{std::vector<TimeNs>(stretches.size(), std::numeric_limits<TimeNs>::min()),
                 std::vector<TimeNs>(stretches.size(), kNever)};
    auto look = [&](const auto& table, const PodVector<Row>& launches, bool kernels) {
        for (Row row = 0; row < table.rows; ++row) {
            TimeNs start = table.start[row];
            TimeNs issued = launches[row] == kNoRow ? start : trace.api_call().start[launches[row]];
            auto after = std::upper_bound(stretches.begin(), stretches.end(), issued,
                                          [](TimeNs time, const Interval& each) { return time < each.start; });
            auto at = static_cast<std::size_t>(after - stretches.begin());
            if (at < stretches.size()) found.busy_until[at] = std::max(found.busy_until[at], start + table.dur[row]);
            if (kernels && at > 0 && issued >= stretches[at - 1].end)
                found.next[at - 1] = std::min(found.next[at - 1], start);
            found.kernels += kernels && at > 0 && issued < stretches[at - 1].end;
        }
    };
    look(trace.kernel(), trace.links().kernel_launch, true);
    look(trace.memcpy(), trace.links().memcpy_launch, false);
    look(trace.memset(), trace.links().memset_launch, false);
    // Work that was launched before an earlier stretch may end after a later one.
    for (std::size_t i = 1; i < stretches.size(); ++i)
        found.busy_until[i] = std::max(found.busy_until[i], found.busy_until[i - 1]);
    return found;
}

// Ranges may mark only a part of every step, as Lightning's training_step does: backward and optimizer follow it.
bool belongs_to_steps(const BetweenSteps& between, std::size_t kernels, const Trace& trace) {
    bool regular =
        static_cast<double>(between.stretches.size()) >= kAfterNearlyAll * static_cast<double>(between.steps - 1);
    return regular && static_cast<double>(kernels) > kPartOfSteps * static_cast<double>(trace.kernel().rows);
}

template <class Table, class Counts>
IntervalSet busy_with(const Table& table, Counts&& counts) {
    Intervals found;
    for (Row row = 0; row < table.rows; ++row)
        if (counts(row)) found.push_back({table.start[row], table.start[row] + table.dur[row]});
    return unite(std::move(found));
}

}  // namespace

BetweenSteps BetweenSteps::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const Steps& steps = facts.get<Steps>();
    BetweenSteps found;
    if (steps.method != StepMethod::ranges || steps.steps.size() < 2 || !launches_known(trace)) return found;
    found.steps = steps.steps.size();
    IntervalSet sleeps = sleeps_of(facts, steps.thread);
    found.stretches = pauses_between(facts, steps, sleeps);
    if (found.stretches.empty()) return found;
    bool trailing = found.stretches.back().start == steps.steps.back().end;
    IntervalSet inner(found.stretches.begin(), found.stretches.end() - trailing);
    StringId name = main_name(facts, steps.thread, inner);
    // After the last step a program also ends. Only the work that was seen between steps is known to repeat.
    if (trailing && (name == kNoString || main_name(facts, steps.thread, {found.stretches.back()}) != name))
        found.stretches.pop_back();
    if (found.stretches.empty()) return found;
    if (name != kNoString) found.name = short_name(trace.text(name));
    Around around = work_around(trace, found.stretches);
    if (belongs_to_steps(found, around.kernels, trace)) return {};
    Intervals exposed;
    for (std::size_t i = 0; i < found.stretches.size(); ++i) {
        Interval span{std::max(found.stretches[i].start, around.busy_until[i]),
                      std::min(around.next[i], trace.window().end)};
        if (span.length() > 0) exposed.push_back(span);
    }
    IntervalSet stands = subtract(unite(std::move(exposed)), sleeps);
    CopyPaths paths(trace);
    auto all = [](Row) { return true; };
    IntervalSet kernels = intersect(busy_with(trace.kernel(), all), stands);
    found.exposed = length(stands);
    found.kernels = length(kernels);
    found.copies = length(subtract(intersect(busy_with(trace.memcpy(), all), stands), kernels));
    found.copied_to_host =
        length(intersect(busy_with(trace.memcpy(), [&](Row row) { return paths.to_host(row); }), found.stretches));
    return found;
}

}  // namespace gpuprof::facts
