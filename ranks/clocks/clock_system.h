// The least-squares problem of clocks.h: offsets and rates of clocks from the ends of shared collectives. Private to
// clocks.cc and its tests.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::inline ranks {

// One end of an instance on one clock. Ends of an instance are adjacent.
struct ClockEnd {
    std::uint32_t instance = 0, clock = 0;
    double time = 0;  // ns from the middle of the recording
    double weight = 1;
};

struct ClockSolution {
    std::vector<double> offset;  // ns, by clock
    std::vector<double> drift;   // ns between the middle and the end of the recording
};

// Fits all clocks by iteratively reweighted least squares (Huber). `half`: half of the recording in ns. Changes the
// weights of `ends`. Clocks without ends get zeros.
ClockSolution fit_clocks(std::vector<ClockEnd>& ends, std::size_t clocks, double half);

// How far each clock may be off at the worse end of the recording, by the noise of the ends and the unknown part of
// rates, in ns: twice the standard deviation over fits to drawn noise. `ends` with the weights of the fit.
std::vector<double> errors_of(const std::vector<ClockEnd>& ends, const ClockSolution& solution, double half);

// The distance of each end from the weighted mean of its instance after the fit, in ns.
std::vector<double> residuals_of(const std::vector<ClockEnd>& ends, const ClockSolution& solution, double half);

}  // namespace gpuprof::ranks
