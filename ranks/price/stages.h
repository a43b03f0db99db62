// The stages of a pipeline: ranks that pass activations on to each other and gradients back. Stages differ by design and
// are no peers; whether they differ too much is asked here, by a replay in which each computes as long as their mean.
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

struct JobStages {
    std::uint32_t count = 0;             // 0: no pipeline was found
    std::vector<std::uint32_t> of_rank;  // kNone: in no pipeline
    std::vector<bool> ring;              // by group: all ranks pass something on, one way around, and are peers
    // Transfers of the first stage to the second in a step, and those that go around (interleaved stages); medians over
    // steps.
    double sends = 0, wraps = 0;

    double micro_batches() const { return sends - wraps; }
    // Idle part of a step of even stages that send and compute without delay; 0 without micro-batches.
    double bubble() const;

    static JobStages make(const Facts& facts);
};

// Per step.
struct StageTimes {
    double compute_ns = 0;                // median of its ranks
    double transfer_ns = 0, wait_ns = 0;  // sends and receives, means of its ranks
};

struct StagePrice {
    std::vector<StageTimes> stages;
    double step_ns = 0, even_ns = 0;  // mean step of the replay; with even stages

    double mean_compute() const;
    static StagePrice make(const Facts& facts);
};

}  // namespace gpuprof::ranks
