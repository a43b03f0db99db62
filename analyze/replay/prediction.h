// How long a step would be with something changed, with the range that the recording allows, or why that cannot be known.
//
// The step time is from the completion of the first step to the completion of the last, per step. Every replay is made several
// times: with and without residuals, with the low and high estimate of what recording cost, and without inferred edges. What
// they span is the range.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/replay/changes.h"
#include "analyze/replay/critical_path.h"
#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// What the recording allows.
struct ReplayValidity {
    std::string why_not;     // no prediction is made; "" if some are
    std::string cure;        // what to record instead
    double model_error = 0;  // of the step time by class lags alone, as a part of it
    double unexplained = 0;  // sum of unexplained starts, as a part of the time of all steps
    double step_error = 0;   // standard error of the step time, as a part of it
    bool inferred = false;   // some edges are inferred or unsure
    static ReplayValidity make(const Facts& facts);
};

// The same facts for replays alone: with what is known that they need, and without what is large. Ten million operations and their replays
// take a gigabyte; those who ask for nothing else drop the facts that they have.
std::unique_ptr<const Facts> facts_for_replays(const Facts& known);
// Makes the graph of facts for replays alone, and drops what no replay reads from their trace: about half of it.
void make_graph(const Facts& facts, Trace& trace);

// A time with the range of what it may be.
struct RangedNs {
    DurNs central = 0, low = 0, high = 0;
};

// How sure a prediction is, in the words of a table.
enum class Certainty : std::uint8_t { good, rough };
std::string_view name_of(Certainty certainty);

struct Prediction {
    std::vector<Edit> edits;  // none: as recorded, without the recorder's cost
    RangedNs step;            // when nothing records
    DurNs recorded = 0;       // when the same recorder records again
    DurNs unchanged = 0;      // a step without the recorder's cost and without the edits
    DurNs floor = 0;          // the kernels of the busiest stream with the edits, at least: step is no shorter
    double gain = 0;          // of the step without the recorder, as a part of it; central
    double gain_low = 0, gain_high = 0;
    Certainty certainty = Certainty::good;
};

// Predicts the step time with all of `edits`. Absent if one of them changes nothing.
std::optional<Prediction> predict(const Facts& facts, const std::vector<Edit>& edits);

// The critical path with the recorder's cost removed, and with all of `edits` that change something.
CriticalPath critical_path_of(const Facts& facts, Estimate recorder, const std::vector<Edit>& edits = {},
                              const SeePart& see = {});

// The step with usual changes made one after the other, by these; absent if the last changes nothing.
using KnownSteps = std::map<std::vector<Change>, std::optional<DurNs>>;

// Each usual change alone.
struct SingleChanges {
    // By change; absent if it changes nothing, or gains too little to be worth naming.
    std::array<std::optional<Prediction>, kUsualChanges> worth;
    KnownSteps steps;
    // Whether the recording has something that the change would change.
    bool possible(std::size_t change) const { return steps.at({static_cast<Change>(change)}).has_value(); }
    static SingleChanges make(const Facts& facts);
};

struct WhatIf {
    DurNs recorded_step = 0;
    Prediction baseline;             // without the recorder's cost
    DurNs floor = 0;                 // the least floor of the predictions below
    std::vector<Prediction> single;  // each change alone that gains enough, by gain and effort
    std::vector<Prediction> plan;    // the best change for its effort, then the best on top of it, and so on
    KnownSteps steps;                // of all changes that were tried for the plan
    std::vector<Change> small;       // changes that gain less than is worth naming
    static WhatIf make(const Facts& facts);
};

// Of `useful`, in the order of how much they ask of the program: the best change, then the best on top of it, until one gains too
// little. Steps that are known are not replayed, and those that are replayed are known then.
std::vector<Edit> plan_of(const Facts& facts, std::vector<Edit> useful, KnownSteps& known);

// Fewer steps than these allow only rough predictions, which no verdict is based on.
inline constexpr std::size_t kSureSteps = 3;

// Gains below this part of the step are not worth naming.
inline constexpr double kWorthChanging = 0.02;

}  // namespace gpuprof::replay
