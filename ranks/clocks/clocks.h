// The clocks of the hosts, brought to one by the ends of collectives that really end together. Each host gets an offset
// and a rate: time systems steer clocks during a recording. The rate has a prior of 20 ppm, because a free rate of a
// short recording would be mostly noise. Times of one host are never moved against each other.
// A clock without enough such collectives is left as it is, and marked. Hosts without a chain of shared groups between
// them form islands. Exchanges bound how far these are apart (clock_brackets.h); else their times are never compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranks/job/job.h"
#include "ranks/match/match.h"

namespace gpuprof::inline ranks {

struct ClockFit {
    double offset_ns = 0;  // at the middle of the recording: what to subtract
    double rate_ppm = 0;   // how much faster it runs than the others
    // Repeatability, or what the noise of the ends leaves open if that is more (clock_system.h), plus 95 % of the
    // residuals. Repeatability: 95 % of the difference of two fits to halves.
    double error_ns = 0;
    double residual_ns = 0;  // median distance of its ends from those of the other hosts, after the fit
    std::uint32_t instances = 0;
    std::uint32_t island = 0;
    double jump_ns = 0;  // by which it was set forward during the recording, at jump_at of its own time; 0: it was not
    TimeNs jump_at = 0;
    bool aligned = false;
};

struct AlignedClocks {
    std::vector<ClockFit> clocks;  // as Job::clocks
    std::uint32_t islands = 0;
    TimeNs middle = 0;

    static AlignedClocks make(const Facts& facts);
    // A time of this clock on the common one.
    TimeNs common(std::uint32_t clock, TimeNs time) const;
};

// Ranks that share a host: as recorded, else neighbours whose clocks agree.
struct JobHost {
    std::string name;  // of an inferred one: "of ranks 8-15"
    bool inferred = false;
    std::vector<std::uint32_t> ranks;  // indices in Job::ranks
};

struct JobHosts {
    std::vector<JobHost> hosts;
    std::vector<std::uint32_t> of_rank;

    static JobHosts make(const Facts& facts);
};

}  // namespace gpuprof::ranks
