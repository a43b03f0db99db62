// Replays of one recording with changes, one after the other in the same memory.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyze/replay/changes.h"
#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// A way to replay a recording with changes.
struct Variant {
    std::optional<Estimate> recorder;  // whose cost is removed; absent: it stays
    bool residuals = true;
    bool events = true;
    Estimate effect = Estimate::central;
};

// What a replay says of the steps.
struct ReplayedSteps {
    std::vector<TimeNs> ends;  // as completions() says
    DurNs floor = 0;           // the kernels of the busiest stream, per step
    DurNs step = 0;
};

class Replayer {
public:
    explicit Replayer(const Facts& facts);
    // Sets the scenario; false if one of the edits changes nothing.
    bool set(const std::vector<Edit>& edits, Variant variant);
    // `times`: kept for overlap().
    ReplayedSteps replay(bool times = false);
    DurNs floor() const;
    // Of the last replay with its times.
    KernelOverlap overlap() const;

private:
    const Facts& facts_;
    const ReplayGraph& graph_;
    Scenario scenario_;
    PodVector<TimeNs> times_;
};

// The steps as recorded.
struct RecordedSteps {
    std::vector<TimeNs> ends;
    static RecordedSteps make(const Facts& facts);
};

// Calls work(i, replayer) for every i < n, several at once if the recording is long enough for a thread, and no more than two if it is so
// long that memory matters: a replayer needs 3 to 11 bytes per point.
void for_each_replay(const Facts& facts, std::size_t n, const std::function<void(std::size_t, Replayer&)>& work);

inline DurNs per_step(const std::vector<TimeNs>& ends) {
    return (ends.back() - ends.front()) / static_cast<DurNs>(ends.size() - 1);
}

}  // namespace gpuprof::replay
