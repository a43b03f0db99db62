// The steps of one rank as its device saw them: a step ends with the last device op that it launched, and the next one
// begins there. So steps follow each other without a hole, also where the host runs ahead of the device. Steps of an inference
// server are its annotations, from each to the next: sampling is launched after the annotation ends. Without steps, the
// recording is one, from the first device op to the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/facts/steps/step_finder.h"
#include "core/model/interval.h"
#include "core/model/trace.h"

namespace gpuprof::inline ranks {

struct RankStep {
    std::int64_t number = 0;  // of its name (ProfilerStep#12), else its place in the recording
    Interval window;
};

class RankSteps {
public:
    static RankSteps make(const Facts& facts);

    const std::vector<RankStep>& steps() const { return steps_; }
    // Whether they are numbered by their place in the recording, because their names do not tell them apart.
    bool by_place() const { return by_place_; }
    // Whether no steps were found, and the only one is the whole recording.
    bool whole() const { return whole_; }
    // The index of the step that launched a kernel, or steps().size() if none did.
    std::size_t of_kernel(Row kernel) const;

    // The same of a moment on the host.
    std::size_t at(TimeNs time) const;

private:
    explicit RankSteps(const Facts& facts) : facts_(facts), found_(facts.get<Steps>()) {}
    void take_whole();
    template <class Table, class Launches>
    void extend(const Table& table, const Launches& launches);
    template <class Launches>
    TimeNs submitted(const Launches& launches, Row row, TimeNs start) const;

    const Facts& facts_;
    const Steps& found_;
    std::vector<RankStep> steps_;
    bool by_place_ = false, whole_ = false;
};

// The number at the end of "ProfilerStep#12" or "step 7".
std::optional<std::int64_t> number_of_step(std::string_view name);

// What a GPU was sampled for during a step: clock, temperature, throttling. The counts are numbers of samples.
struct StepSamples {
    double clock = 0;    // sum, MHz
    double hottest = 0;  // degrees Celsius
    std::int64_t with_clock = 0, with_heat = 0, with_reasons = 0, throttled = 0;
};

// One entry per step.
std::vector<StepSamples> step_samples(const Trace& trace, const std::vector<RankStep>& steps, std::int32_t device);

}  // namespace gpuprof::ranks
