// Sentences about metrics that a device does not give: what shares a reason is said once, in one sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/device/reading.h"

namespace gpuprof {

// "util.gpu, power and gpm.*"
std::string names_of(MetricSet metrics);

// Collects absences of one device during one turn.
class Absences {
public:
    // `reason` completes "GPU 0 does not report power: ".
    void add(MetricSet metrics, std::string_view reason);
    // One fault per reason, and empties the list.
    void report(TimeNs time, std::int32_t device, std::vector<Fault>& to);

private:
    struct Group {
        std::string reason;
        MetricSet metrics;
    };
    std::vector<Group> groups_;
};

}  // namespace gpuprof
