// The iterations of a server by phase, and what limits each phase: over the iterations of one phase alone, because a decode step
// and a prompt differ in everything. The wall times of all phases of a worker add up to that of its iterations.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/facts/steps/iterations.h"
#include "analyze/knowledge/causes.h"

namespace gpuprof::inline facts {

// Where the wall time of a phase goes.
enum class PhasePart : std::uint8_t {
    host_between,   // idle before the first op of a step: scheduling, input preparation
    host_inside,    // idle between ops of a step: launches
    graph_gaps,     // idle between two nodes of a launched graph
    memory,         // kernels limited by moving data
    compute,        // kernels limited by arithmetic
    communication,  // exposed
    underfilled,    // kernels that leave the device empty
    copies,         // busy without kernels
    unknown,        // kernels whose limit is unknown
};
inline constexpr std::size_t kPhaseParts = 9;
// "host between steps", ...
std::string_view name_of(PhasePart part);

struct PhaseTotals {
    std::size_t engine = 0;
    ServingPhase phase = ServingPhase::unknown;
    bool steady = false;  // only of the steady part; else of all iterations
    std::size_t count = 0;
    DurNs wall = 0, p50 = 0, p95 = 0, own_busy = 0;
    DurNs cut = 0;     // of the unknown part: the host waits for work that is not in the recording
    double share = 0;  // of the wall time of all phases of the engine, in percent
    std::optional<std::int64_t> tokens, output_tokens, requests_p50;  // absent if unknown in one of them
    std::array<DurNs, kPhaseParts> parts{};
    std::optional<DurNs> exposed_comm_p50;
    double kernels = 0;  // per iteration
    // Limit of FLOP per byte of dense products, with weights of 16 bits; absent without tokens.
    std::optional<double> intensity;

    // Output tokens per second with twice the requests, at least and at most; only of decode steps.
    std::optional<std::pair<double, double>> tokens_per_s_of_twice;

    DurNs part(PhasePart which) const { return parts[static_cast<std::size_t>(which)]; }
    PhasePart largest() const;  // without `cut`
};

// Sets tokens_per_s_of_twice (larger_batch.cc).
void add_larger_batches(const Facts& facts, const Iterations& found, std::vector<PhaseTotals>& totals);

struct ServingPhases {
    std::vector<PhaseTotals> totals;  // by engine; the steady part first, then by phase
    static ServingPhases make(const Facts& facts);
};

}  // namespace gpuprof::facts
