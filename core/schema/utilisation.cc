#include "core/schema/utilisation.h"

namespace gpuprof::inline schema {

std::string_view pattern_of(const Utilisation& found) {
    if (found.samples < 3) return "unknown";
    if (found.mean < 5 && found.active_pct < 5) return "idle";
    if (found.idle_pct < 5 && found.mean >= 50 && found.throttled_pct >= 20) return "throttled";
    if (found.p5 >= 50 && found.idle_pct < 5 && found.mean >= 80) return "steady";
    if (found.idle_pct >= 5 && found.active_pct >= 5) return "bursty";
    return found.mean < 80 ? "starved" : "steady";
}

}  // namespace gpuprof::schema
