// Messages about metrics that a device does not report: metrics with the same reason share one sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/device/device_reading.h"

namespace gpuprof::inline device {

// "util.gpu, power and gpm.*"
std::string names_of(MetricSet metrics);

// Collects the missing metrics of one device during one turn.
class UnreportedMetrics {
public:
    // `reason` completes "GPU 0 does not report power: ".
    void add(MetricSet metrics, std::string_view reason);
    // Returns one fault per reason, and empties the list.
    void report(TimeNs time, std::int32_t device, std::vector<Fault>& to);

private:
    struct Group {
        std::string reason;
        MetricSet metrics;
    };
    std::vector<Group> groups_;
};

}  // namespace gpuprof::device
