// Times with noise of known kinds and a known true median, for trials.
#pragma once

#include <cmath>
#include <vector>

#include "measure/random.h"

namespace gpuprof::measure {

enum class Noise { normal, skewed, bimodal };

// One time around a true median of `median`; `share` is the relative standard deviation of the normal part.
inline double one_time(Random& random, Noise noise, double median, double share) {
    switch (noise) {
        case Noise::normal: return median * (1 + share * random.normal());
        case Noise::skewed:
            return median * std::exp(share * random.normal());  // lognormal: its median is exact
        // Seven in ten around one value, three around another 10 % above: the median is the 5/7 quantile of the first, as
        // long as the two do not meet. z(5/7) = 0.56595.
        case Noise::bimodal: {
            double base = median / (1 + share * 0.565948821932863);
            return (random.uniform() < 0.7 ? base : base * 1.1) + base * share * random.normal();
        }
    }
    return median;
}

inline std::vector<double> times(Random& random, Noise noise, double median, double share, std::size_t count) {
    std::vector<double> samples(count);
    for (double& sample : samples) sample = one_time(random, noise, median, share);
    return samples;
}

// Normal noise in which each value keeps `keep` of the one before; the median stays `median`.
inline std::vector<double> dependent_times(Random& random, double median, double share, double keep,
                                           std::size_t count) {
    std::vector<double> samples(count);
    double state = random.normal();
    for (double& sample : samples) {
        state = keep * state + std::sqrt(1 - keep * keep) * random.normal();
        sample = median * (1 + share * state);
    }
    return samples;
}

}  // namespace gpuprof::measure
