#include "ranks/pages/step_samples.h"

#include <algorithm>

#include "core/schema/throttle.h"

namespace gpuprof::inline ranks {
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
        if (metric == clock) to->clock += value, ++to->with_clock;
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
