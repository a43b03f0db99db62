#include "compare/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "analyze/facts/activity.h"
#include "core/base/parallel.h"

namespace gpuprof::compare {
namespace {

// Device work after the last step that makes step durations doubtful: percent of all work, and this share of a step's.
constexpr double kBacklog = 10, kBacklogOfStep = 0.5;
// Change of the work left over after each step, in percent of the work of all, above which ranges are not what the device
// does: a host 2 % faster than the device between synchronisations in every tenth step. Ranges of the fixtures that
// synchronise once per step stay below 1 %.
constexpr double kMovedBacklog = 2;
constexpr double kMaxFrequencyRatio = 1.5;  // maximum ratio of a kernel's frequency in the steps of both sides

bool host_steps_hold(Recording& recording) {
    return !recording.steps(StepMethod::ranges).steps.empty() && !recording.backlog_pct();
}

// The number of launches per step of each kernel.
std::map<std::string_view, double> launches_per_step(Recording& recording) {
    const std::vector<Step>& steps = recording.steps(StepMethod::kernels).steps;
    const KernelTable& kernels = recording.trace().kernel();
    std::map<std::string_view, double> counts;
    for (Row row = 0; row < kernels.rows; ++row)
        if (kernels.name.has(row) && kernels.start[row] >= steps.front().start && kernels.start[row] < steps.back().end)
            counts[recording.trace().text(kernels.name[row])] += 1 / static_cast<double>(steps.size());
    return counts;
}

// Whether a step of one side is not several of the other's: half of the kernels common to both are equally frequent in
// the steps of both sides, and so is the kernel that marks the steps of either side, if both have it.
bool same_iteration(Recording& base, Recording& next) {
    std::map<std::string_view, double> before = launches_per_step(base), after = launches_per_step(next);
    std::size_t shared = 0, as_often = 0;
    for (const auto& [name, count] : before) {
        auto other = after.find(name);
        if (other == after.end()) continue;
        bool same_frequency =
            count <= kMaxFrequencyRatio * other->second && other->second <= kMaxFrequencyRatio * count;
        bool marks = name == base.steps(StepMethod::kernels).family || name == next.steps(StepMethod::kernels).family;
        if (marks && !same_frequency) return false;
        ++shared;
        as_often += same_frequency;
    }
    return shared > 0 && 2 * as_often >= shared;
}

// Finds the steps of both at the same time; returns whether both have some.
bool both_have(Recording& base, Recording& next, StepMethod method) {
    run_parallel(2, 2, [&](std::size_t side, unsigned) { (side == 0 ? base : next).steps(method); });
    return !base.steps(method).steps.empty() && !next.steps(method).steps.empty();
}

constexpr std::string_view kAhead =
    "the host runs ahead of the device, so a step lasts from its first kernel to the first kernel of the next step";

}  // namespace

Recording::Recording(Trace trace, const Options& options)
    : trace_(std::make_unique<Trace>(std::move(trace))), facts_(std::make_unique<Facts>(*trace_, options)) {}

const Steps& Recording::steps(StepMethod method) {
    std::optional<Steps>& found = steps_[static_cast<std::size_t>(method)];
    if (found) return *found;
    switch (method) {
        case StepMethod::none: found.emplace(); break;
        case StepMethod::ranges: found = find_range_steps(*facts_); break;
        case StepMethod::launched: found = find_launched_steps(*facts_, steps(StepMethod::ranges)); break;
        case StepMethod::kernels: found = find_repeated_kernels(*facts_); break;
    }
    return *found;
}

std::optional<double> Recording::backlog_pct() {
    const Steps& ranges = steps(StepMethod::ranges);
    const std::vector<Step>& found = ranges.steps;
    if (found.empty()) return std::nullopt;
    if (std::optional<StepBacklog> each = backlog_of(*facts_, ranges); each && each->moved_pct >= kMovedBacklog)
        return each->late_pct;
    double after = 0, all = 0;
    for (const DeviceActivity& device : facts_->get<Activity>().devices) {
        after += static_cast<double>(length_within(device.busy, {found.back().end, trace_->window().end}));
        all += static_cast<double>(length(device.busy));
    }
    double pct = all > 0 ? 100 * after / all : 0;
    bool half_a_step = pct / 100 * static_cast<double>(found.size()) >= kBacklogOfStep;
    return pct >= kBacklog && half_a_step ? std::optional(pct) : std::nullopt;
}

std::pair<std::unique_ptr<Trace>, std::unique_ptr<Facts>> Recording::take_with_facts() {
    return {std::move(trace_), std::move(facts_)};
}

Trace Recording::take() {
    facts_.reset();
    return std::move(*trace_);
}

StepChoice choose_steps(Recording& only) {
    if (host_steps_hold(only)) return {StepMethod::ranges, ""};
    bool ranges = !only.steps(StepMethod::ranges).steps.empty();
    if (ranges && !only.steps(StepMethod::launched).steps.empty()) return {StepMethod::launched, std::string(kAhead)};
    bool named = !only.facts().options().step_range.empty();
    if (!named && !only.steps(StepMethod::kernels).steps.empty()) return {StepMethod::kernels, ""};
    return {ranges ? StepMethod::ranges : StepMethod::none, ""};
}

// A note as part of a sentence: "No steps found." as "no steps found".
std::string clause_of(std::string note) {
    if (note.ends_with('.')) note.pop_back();
    if (!note.empty()) note[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(note[0])));
    return note;
}

StepChoice choose_steps(Recording& base, Recording& next) {
    bool ranges = both_have(base, next, StepMethod::ranges);
    const Steps &before = base.steps(StepMethod::ranges), &after = next.steps(StepMethod::ranges);
    bool same_ranges = ranges && before.family == after.family;
    if (same_ranges && host_steps_hold(base) && host_steps_hold(next)) return {StepMethod::ranges, ""};
    if (same_ranges && both_have(base, next, StepMethod::launched)) return {StepMethod::launched, std::string(kAhead)};
    bool named = !base.facts().options().step_range.empty();
    if (!named && both_have(base, next, StepMethod::kernels)) {
        if (same_iteration(base, next))
            return {StepMethod::kernels,
                    fmt::format("steps are a sequence of kernels that repeats on both sides{}",
                                ranges && !same_ranges ? ", because the range names of BASE and NEW differ" : "")};
        return {StepMethod::none, "the repeating kernel sequences are different parts of the program in BASE and NEW"};
    }
    if (same_ranges) return {StepMethod::ranges, ""};
    if (ranges)
        return {StepMethod::none, fmt::format("steps are named '{}' in BASE and '{}' in NEW, and no sequence of "
                                              "kernels repeats on both sides",
                                              before.steps.front().name, after.steps.front().name)};
    bool base_has = !before.steps.empty() || (!named && !base.steps(StepMethod::kernels).steps.empty());
    bool next_has = !after.steps.empty() || (!named && !next.steps(StepMethod::kernels).steps.empty());
    if (!base_has && !next_has) return {StepMethod::none, ""};
    if (base_has && next_has) return {StepMethod::none, "one side has step ranges, the other only repeating kernels"};
    const Steps& none = (base_has ? next : base).steps(named ? StepMethod::ranges : StepMethod::kernels);
    return {StepMethod::none, fmt::format("{} has steps, but {} has none ({})", base_has ? "BASE" : "NEW",
                                          base_has ? "NEW" : "BASE", clause_of(none.note))};
}

}  // namespace gpuprof::compare
