// What could be said to limit a run: each explanation with the time it accounts for. They compete for the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/causes.h"
#include "analyze/replay/kernel_speed.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

struct Explanation {
    Limit limit;
    DurNs time;                       // of the whole
    std::optional<DurNs> gives_back;  // recoverable part; absent: unknown
    std::string because;
};

struct Explanations {
    std::vector<Explanation> all;  // the largest first; their times do not overlap
    DurNs whole = 0;               // what shares are of
    DurNs effective = 0;           // whole without what the recorder made itself: decides
    double pct(DurNs time) const { return part(time, whole); }
    double effective_pct(DurNs time) const { return part(time, effective); }

private:
    static double part(DurNs of, DurNs all) {
        return all > 0 ? 100 * static_cast<double>(of) / static_cast<double>(all) : 0;
    }
};

// From the window of all devices: busy time by limiter and idle time by cause.
Explanations explain_window(const Facts& facts);
// From the critical path without this estimate of the recorder's cost. Needs a valid replay.
Explanations explain_path(const Facts& facts, Estimate recorder);

// Why idle time with the cause "unrecorded work" says nothing about the host.
std::string unrecorded_because(DurNs time);

// The two kernel classes that hold most of the time of one bound, e.g. "gemm and attention kernels".
std::string main_classes(const Facts& facts, Bound bound);

}  // namespace gpuprof::answer
