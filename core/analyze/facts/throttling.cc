#include "core/analyze/facts/throttling.h"

#include "core/analyze/facts/facts.h"

namespace gpuprof {

Throttling Throttling::make(const Facts& facts) {
    constexpr std::uint64_t kSoftwarePowerCap = 0x4, kHardwareSlowdown = 0x8, kSoftwareThermal = 0x20,
                            kHardwareThermal = 0x40, kHardwarePowerBrake = 0x80;
    Throttling found;
    const SampleTable& samples = facts.trace().tables().sample;
    StringId reasons = facts.trace().strings().find("throttle.reasons");
    if (reasons == kNoString) return found;
    for (Row row = 0; row < samples.rows; ++row) {
        if (samples.metric.value_or(row, kNoString) != reasons || !samples.value.has(row)) continue;
        double value = samples.value[row];
        if (!(value >= 0 && value < 0x1p63)) continue;
        auto bits = static_cast<std::uint64_t>(value);
        bool power = bits & kSoftwarePowerCap, heat = bits & (kSoftwareThermal | kHardwareThermal),
             hardware = bits & (kHardwareSlowdown | kHardwarePowerBrake);
        ++found.samples;
        found.power += power;
        found.heat += heat;
        found.hardware += hardware;
        found.held += power || heat || hardware;
    }
    return found;
}

}  // namespace gpuprof
