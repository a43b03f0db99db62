// Drawn lengths of steps: independent or dependent noise, a drift over the series, a tail of steps that take twice as long.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "measure/random.h"

namespace gpuprof::compare {

struct Series {
    std::size_t steps = 100;
    double noise = 0.03;  // standard deviation of the logarithm
    double keep = 0;      // share of the noise that a step takes over from the one before
    double drift = 0;     // by which the last step is longer than the first
    double tail = 0;      // share of steps that take twice as long
    double factor = 1;    // of everything
};

inline std::vector<double> draw(const Series& series, measure::Random& random) {
    std::vector<double> lengths;
    double state = random.normal();
    for (std::size_t i = 0; i < series.steps; ++i) {
        state = series.keep * state + std::sqrt(1 - series.keep * series.keep) * random.normal();
        double length = 1e6 * series.factor * std::exp(series.noise * state);
        length *= 1 + series.drift * static_cast<double>(i) / static_cast<double>(series.steps);
        lengths.push_back(random.uniform() < series.tail ? 2 * length : length);
    }
    return lengths;
}

}  // namespace gpuprof::compare
