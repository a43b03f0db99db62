// Kernels that run at the same time on one device in a replay. They share its multiprocessors and its memory, so that kernels that
// a change lets run together take longer than they did alone, by up to the time that they overlap.
#pragma once

#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

struct KernelOverlap {
    DurNs kernels = 0;  // sum of durations
    DurNs overlap = 0;  // of which another kernel of the device had begun and not ended
};

// `times` is the replay of `scenario`.
KernelOverlap kernel_overlap(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times);

}  // namespace gpuprof::replay
