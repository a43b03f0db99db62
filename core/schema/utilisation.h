// What samples of a GPU's utilisation say in one word: live sampling and recorded samples use the same.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuprof::inline schema {

// Utilisation in percent. Samples below the first count as idle, from the second as active.
inline constexpr double kIdleBelowPct = 5, kActiveFromPct = 50;

struct Utilisation {
    std::size_t samples = 0;
    double mean = 0, p5 = 0;
    double idle_pct = 0, active_pct = 0, throttled_pct = 0;  // of the samples
};

// "idle", "throttled", "steady", "bursty", "starved"; "unknown" below three samples.
std::string_view pattern_of(const Utilisation& found);

}  // namespace gpuprof::schema
