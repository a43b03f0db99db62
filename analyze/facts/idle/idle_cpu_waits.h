// Waits for a CPU in idle time: of the threads that a device waited for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "analyze/facts/idle/gaps.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

struct IdleCpuWaits {
    using ByCause = std::array<DurNs, kIdleCauses>;
    ByCause all{};  // by IdleCause, over all devices
    std::map<std::int32_t, ByCause> by_device;

    static IdleCpuWaits make(const Facts& facts);
    // In idle time with that cause, of one device or of all; absent if it is less than a tenth.
    std::optional<DurNs> of(const DeviceIdle& device, IdleCause cause) const;
    std::optional<DurNs> of(const IdleGaps& gaps, IdleCause cause) const;
};

// Of the gap's host thread within the gap; absent if it is less than half of the gap.
std::optional<DurNs> cpu_wait_of(const Facts& facts, const IdleGap& gap);

}  // namespace gpuprof::facts
