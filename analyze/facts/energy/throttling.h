// How often the device throttled its clocks under load, by samples of `throttle.reasons` (core/schema/throttle.h).
#pragma once

#include <cstddef>

namespace gpuprof::inline facts {

class Facts;

struct Throttling {
    std::size_t samples = 0;    // with throttle reasons; 0: not recorded
    std::size_t throttled = 0;  // with a relevant reason
    std::size_t power = 0, thermal = 0, hardware = 0;
    static Throttling make(const Facts& facts);
    double pct() const {
        return samples == 0 ? 0 : 100 * static_cast<double>(throttled) / static_cast<double>(samples);
    }
};

}  // namespace gpuprof::facts
