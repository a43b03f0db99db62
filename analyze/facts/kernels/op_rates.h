// Achieved rates of framework operators: FLOPs and bytes from their recorded shapes, over the device time of the
// kernels they launched directly, relative to the device's peaks. One entry per operator name, shapes and types;
// operators with unknown arithmetic or device time have no entry. A kernel's operator is the one its external id names,
// or else the innermost operator open on the launching thread at launch.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/knowledge/causes.h"
#include "analyze/knowledge/device_peaks.h"
#include "analyze/knowledge/math_type.h"
#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

// What a row of table device says of its device.
DeviceQuery device_query(const Trace& trace, Row row);

// The peaks of a device of a recording; absent if it is not among the recorded devices.
std::optional<DevicePeaks> peaks_of(const Trace& trace, std::int32_t device);

struct OpRate {
    StringId name = kNoString;
    StringId dims = kNoString;           // input shapes as recorded
    StringId types = kNoString;          // input types as recorded
    std::uint64_t count = 0;             // calls that launched kernels
    DurNs device_ns = 0;                 // summed durations of their kernels
    std::optional<double> flops, bytes;  // of all calls together
    bool nominal = false;                // flops count elementary functions as one
    MathPath path;                       // of the longest kernel, or the operand type
    std::optional<double> compute_pct;   // of the device's peak for `path`
    std::optional<double> bandwidth_pct;
    std::optional<Bound> bound;  // compute or memory, if a rate is close enough to its peak
};

struct OpRates {
    std::vector<OpRate> rates;  // by device time, longest first
    std::vector<std::uint32_t>
        rate_of_kernel;  // kernel row -> index in rates, or kNoRow; empty if no shapes were recorded
    static OpRates make(const Facts& facts);
};

}  // namespace gpuprof::facts
