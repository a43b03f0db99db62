#include "ranks/reduce/rank_steps.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "analyze/knowledge/serving_names.h"
#include "core/schema/throttle.h"

namespace gpuprof::inline ranks {

std::optional<std::int64_t> number_of_step(std::string_view name) {
    std::size_t digits = name.find_last_not_of("0123456789") + 1;  // npos + 1 == 0
    std::int64_t number = 0;
    std::errc error = std::from_chars(name.data() + digits, name.data() + name.size(), number).ec;
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

// The number of steps before the first one.
std::size_t RankSteps::at(TimeNs time) const {
    if (whole_) return 0;
    return last_step_before(found_.steps, time).value_or(found_.steps.size());
}

// When the host submitted an op, if steps are ranges of the host; else when it ran.
template <class Launches>
TimeNs RankSteps::submitted(const Launches& launches, Row row, TimeNs start) const {
    Row call = found_.method == StepMethod::ranges ? launches[row] : kNoRow;
    return call == kNoRow ? start : facts_.trace().api_call().start[call];
}

template <class Table, class Launches>
void RankSteps::extend(const Table& table, const Launches& launches) {
    for (Row row = 0; row < table.rows; ++row) {
        std::size_t step = at(submitted(launches, row, table.start[row]));
        // Work after the last step, such as saving a checkpoint, is not a part of it.
        if (step >= steps_.size() || (step + 1 == steps_.size() && table.start[row] > found_.steps[step].end &&
                                      submitted(launches, row, table.start[row]) > found_.steps[step].end))
            continue;
        steps_[step].window.end = std::max(steps_[step].window.end, table.start[row] + table.dur[row]);
    }
}

std::size_t RankSteps::of_kernel(Row kernel) const {
    const Trace& trace = facts_.trace();
    return at(submitted(trace.links().kernel_launch, kernel, trace.kernel().start[kernel]));
}

// Nothing, if nothing ran on a device or is known of collectives of the CPU.
void RankSteps::take_whole() {
    const Trace& trace = facts_.trace();
    Interval whole{INT64_MAX, INT64_MIN};
    auto take = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row) {
            whole.start = std::min(whole.start, table.start[row]);
            whole.end = std::max(whole.end, table.start[row] + table.dur[row]);
        }
    };
    take(trace.kernel());
    take(trace.memcpy());
    take(trace.memset());
    if (whole.end <= whole.start && trace.tables().collective.rows > 0) take(trace.range());
    if (whole.end <= whole.start) return;
    steps_.push_back({0, whole});
    whole_ = true;
}

RankSteps RankSteps::make(const Facts& facts) {
    RankSteps made(facts);
    if (made.found_.steps.empty()) {
        made.take_whole();
        return made;
    }
    std::set<std::optional<std::int64_t>> numbers;
    for (const Step& step : made.found_.steps) {
        std::optional<std::int64_t> number = parse_serving_step(step.name) ? std::nullopt : number_of_step(step.name);
        made.steps_.push_back({number.value_or(0), {step.start, step.start}});
        numbers.insert(number);
    }
    // Names without numbers, or all with the same one.
    made.by_place_ = numbers.contains(std::nullopt) || numbers.size() < made.steps_.size();
    if (made.by_place_)
        for (std::size_t i = 0; i < made.steps_.size(); ++i) made.steps_[i].number = static_cast<std::int64_t>(i);
    const Trace& trace = facts.trace();
    made.extend(trace.kernel(), trace.links().kernel_launch);
    made.extend(trace.memcpy(), trace.links().memcpy_launch);
    made.extend(trace.memset(), trace.links().memset_launch);
    for (std::size_t i = 0; i < made.steps_.size(); ++i) {
        Interval& window = made.steps_[i].window;
        if (i > 0) window.start = made.steps_[i - 1].window.end;
        // Without device work of its own, which would end after it began, it ends on the host.
        if (window.end <= std::max(window.start, made.found_.steps[i].start))
            window.end = std::max(window.start, made.found_.steps[i].end);
    }
    return made;
}

namespace {

// The step of the device in which a moment lies; null if none does.
StepSamples* at(TimeNs time, const std::vector<RankStep>& steps, std::vector<StepSamples>& found) {
    auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                  [](TimeNs t, const RankStep& step) { return t < step.window.start; });
    bool inside = after != steps.begin() && time < after[-1].window.end;
    return inside ? &found[static_cast<std::size_t>(after - steps.begin()) - 1] : nullptr;
}

}  // namespace

std::vector<StepSamples> step_samples(const Trace& trace, const std::vector<RankStep>& steps, std::int32_t device) {
    std::vector<StepSamples> found(steps.size());
    const SampleTable& samples = trace.tables().sample;
    StringId clock = trace.strings().find("clock.sm"), heat = trace.strings().find("temp"),
             reasons = trace.strings().find("throttle.reasons");
    for (Row row = 0; row < samples.rows; ++row) {
        StringId metric = samples.metric.value_or(row, kNoString);
        bool wanted = metric != kNoString && (metric == clock || metric == heat || metric == reasons);
        if (!wanted || samples.device.value_or(row, -1) != device || !samples.value.has(row)) continue;
        StepSamples* to = at(samples.time.value_or(row, INT64_MIN), steps, found);
        if (to == nullptr) continue;
        double value = samples.value[row];
        if (metric == clock) {
            to->clock += value;
            ++to->with_clock;
        }
        if (metric == heat) to->hottest = to->with_heat++ == 0 ? value : std::max(to->hottest, value);
        if (metric == reasons && value >= 0 && value < 0x1p63) {
            Throttle because = throttle_of(static_cast<std::uint64_t>(value));
            to->throttled += because.power || because.thermal || because.hardware;
            ++to->with_reasons;
        }
    }
    return found;
}

}  // namespace gpuprof::ranks
