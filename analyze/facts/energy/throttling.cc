#include "analyze/facts/energy/throttling.h"

#include "analyze/facts/facts.h"
#include "core/schema/throttle.h"

namespace gpuprof::inline facts {

Throttling Throttling::make(const Facts& facts) {
    Throttling found;
    const SampleTable& samples = facts.trace().tables().sample;
    StringId reasons = facts.trace().strings().find("throttle.reasons");
    if (reasons == kNoString) return found;
    for (Row row = 0; row < samples.rows; ++row) {
        if (samples.metric.value_or(row, kNoString) != reasons || !samples.value.has(row)) continue;
        double value = samples.value[row];
        if (!(value >= 0 && value < 0x1p63)) continue;
        Throttle throttle = throttle_of(static_cast<std::uint64_t>(value));
        ++found.samples;
        found.power += throttle.power;
        found.thermal += throttle.thermal;
        found.hardware += throttle.hardware;
        found.throttled += throttle.power || throttle.thermal || throttle.hardware;
    }
    return found;
}

}  // namespace gpuprof::facts
