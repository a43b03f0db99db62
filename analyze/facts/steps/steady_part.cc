#include "analyze/facts/steps/steady_part.h"

#include <algorithm>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/stat.h"
#include "analyze/facts/steps/iterations.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/facts/steps/sufficiency.h"
#include "core/model/build/kept_steps.h"
#include "core/model/managed_memory.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinKernels = 32;  // kernels
constexpr double kMaxShare = 0.8;        // share of the window above which the whole recording is used
constexpr std::size_t kMinSteps = 4;
constexpr double kCutGap = 0.4;  // share of a few iterations; seen in two slices of SGLang: 0.5 and 0.98
constexpr DurNs kWarmUp = 2;     // x median step: a leading step that takes longer is warm-up

// Start of the first step that resembles the others; absent if too few do. The time before the first step counts as a
// step.
std::optional<TimeNs> first_typical_step(const std::vector<Step>& steps, TimeNs begin) {
    if (steps.size() < kMinSteps) return std::nullopt;
    std::vector<DurNs> lengths;
    for (const Step& step : steps) lengths.push_back(step.end - step.start);
    auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    std::size_t first = 0;
    while (first < steps.size() / 2 && (steps[first].end - steps[first].start) / kWarmUp > *middle) ++first;
    if (first == 0 && (steps[0].start - begin) / kWarmUp <= *middle) return begin;
    return steps[first].start;
}

// From the first to the last op of any device; the window if there are no ops. Pages of managed memory also migrate
// when the host reads results, whenever that is.
Interval part_with_work(const Trace& trace) {
    Interval window = trace.window(), work{window.end, window.start};
    auto extend = [&](const auto& table, auto&& counts) {
        for (Row row = 0; row < table.rows; ++row) {
            if (!counts(row)) continue;
            work.start = std::min(work.start, table.start[row]);
            work.end = std::max(work.end, table.start[row] + table.dur[row]);
        }
    };
    auto always = [](Row) { return true; };
    StringId managed = trace.strings().find(kManagedMemory);
    extend(trace.kernel(), always);
    extend(trace.memcpy(), [&](Row copy) { return !is_migration(trace.memcpy(), copy, managed); });
    extend(trace.memset(), always);
    work = {std::max(window.start, work.start), std::min(window.end, work.end)};
    return work.length() > 0 ? work : window;
}

// The first kernel that starts at `time` or later.
Row first_kernel_from(const Trace& trace, TimeNs time) { return trace.kernel().start.lower_bound(time); }

std::size_t kernels_within(const Trace& trace, Interval part) {
    return first_kernel_from(trace, part.end) - first_kernel_from(trace, part.start);
}

// The sum of the durations of the kernels that start in `part`.
DurNs kernel_time(const Trace& trace, Interval part) {
    DurNs sum = 0;
    Row end = first_kernel_from(trace, part.end);
    for (Row row = first_kernel_from(trace, part.start); row < end; ++row) sum += trace.kernel().dur[row];
    return sum;
}

bool is_most(Interval part, const Trace& trace) {
    return static_cast<double>(part.length()) > kMaxShare * static_cast<double>(trace.window().length());
}

}  // namespace

bool steps_are_most_of_the_work(const Facts& facts) {
    const Trace& trace = facts.trace();
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    if (steps.empty()) return false;
    TimeNs from = steps.front().start;
    return kernel_time(trace, {from, trace.window().end}) >= kernel_time(trace, {trace.window().start, from});
}

std::optional<Interval> busy_part(const Trace& trace) {
    const KernelTable& kernels = trace.kernel();
    if (kernels.rows < kMinKernels) return std::nullopt;
    auto start = [&](std::size_t i) { return kernels.start[static_cast<Row>(i)]; };
    // Of the intervals from one kernel's start to another's that hold enough kernels and enough of their time, the shortest.
    const DurNs all = kernel_time(trace, trace.window());
    const std::size_t count = kernels.rows - kernels.rows / 4;
    auto dur = [&](std::size_t i) { return kernels.dur[static_cast<Row>(i)]; };
    std::size_t first = 0, last = kernels.rows - 1;
    DurNs held = 0;
    for (std::size_t from = 0, to = 0; to < kernels.rows; ++to) {
        held += dur(to);
        auto enough = [&](DurNs time, std::size_t n) { return time >= all - all / 4 && n >= count; };
        for (; from < to && enough(held - dur(from), to - from); ++from) held -= dur(from);
        if (enough(held, to - from + 1) && start(to) - start(from) < start(last) - start(first))
            first = from, last = to;
    }
    DurNs longest = 0;
    for (std::size_t i = first + 1; i <= last; ++i) longest = std::max(longest, start(i) - start(i - 1));
    DurNs pause = longest + longest / 2;  // tolerance, since steps vary
    while (first > 0 && start(first) - start(first - 1) <= pause) --first;
    while (last + 1 < kernels.rows && start(last + 1) - start(last) <= pause) ++last;
    Interval part{start(first), start(last) + kernels.dur[static_cast<Row>(last)]};
    return is_most(part, trace) ? std::nullopt : std::optional(part);
}

namespace {

// Of a server, from the first to the last iteration with nearly as many requests as ever, on the host and on the device. Without the
// leading ones that take more than twice the median: the last prompts of the ramp, which all the steps after them would be mixed with.
std::optional<Interval> steady_iterations(const Facts& facts) {
    std::optional<Interval> part;
    std::vector<DurNs> walls;
    for (const Iteration& each : facts.get<Iterations>().all)
        if (each.state == IterationState::steady) walls.push_back(each.wall());
    if (walls.empty()) return std::nullopt;
    const DurNs usual = nearest_rank(walls, 50);
    for (const Iteration& each : facts.get<Iterations>().all) {
        if (each.state != IterationState::steady || (!part && each.wall() > kWarmUp * usual)) continue;
        Interval here{std::min(each.host_start, each.begin), each.gpu.end};
        part = part ? Interval{std::min(part->start, here.start), std::max(part->end, here.end)} : here;
    }
    return part;
}

// Of a few iterations that were cut from a run: what follows a gap of nearly half of them, in which the host waited for
// iterations that are not in the recording.
std::optional<Interval> after_long_gap(const Facts& facts) {
    const Iterations& found = facts.get<Iterations>();
    if (found.all.empty() || found.all.size() >= kMinSteps) return std::nullopt;
    const std::vector<DeviceActivity>& devices = facts.get<Activity>().devices;
    if (devices.size() != 1) return std::nullopt;
    const IntervalSet& busy = devices.front().busy;
    if (busy.size() < 2) return std::nullopt;
    std::size_t longest = 1;
    for (std::size_t i = 2; i < busy.size(); ++i)
        if (busy[i].start - busy[i - 1].end > busy[longest].start - busy[longest - 1].end) longest = i;
    DurNs all = busy.back().end - busy.front().start, gap = busy[longest].start - busy[longest - 1].end;
    Interval after{busy[longest].start, busy.back().end};
    bool most = 2 * length_within(busy, after) > length(busy);
    return most && static_cast<double>(gap) > kCutGap * static_cast<double>(all) ? std::optional(after) : std::nullopt;
}

}  // namespace

SteadyPart SteadyPart::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    if (std::optional<Interval> steady = steady_iterations(facts)) return {*steady};
    if (std::optional<Interval> after = after_long_gap(facts)) return {*after};
    Interval whole = trace.window(), work = part_with_work(trace);
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    std::optional<TimeNs> first = first_typical_step(steps, whole.start);
    if (first && kernels_within(trace, {*first, whole.end}) >= kMinKernels && steps_are_most_of_the_work(facts))
        return {{*first, std::max(steps.back().end, work.end)}};
    if (std::optional<Interval> busy = busy_part(trace)) {
        // Only our own recorder starts with the program; with other recorders, the time outside the busy part must
        // exceed a pause.
        bool from_start = trace.origin().recorder_of_work() == meta_key::kRecorderTool;
        if (from_start || 2 * busy->length() < whole.length()) return {*busy};
    }
    // Without steps, the time before the first device op is assumed to be setup.
    return {work};
}

std::optional<Interval> interval_for_first_answer(const Facts& facts) {
    // Between kept steps nothing was recorded: the slowest one says what happened in it.
    if (std::vector<KeptStepFact> kept = kept_steps(facts.trace()); !kept.empty()) return kept.front().span;
    // Of a few operations, the time between them says little: what surrounds them is all there is.
    if (too_little_work(facts)) return std::nullopt;
    Interval part = facts.get<SteadyPart>().part;
    return part.length() <= 0 || is_most(part, facts.trace()) ? std::nullopt : std::optional(part);
}

}  // namespace gpuprof::facts
