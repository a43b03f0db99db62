// What a rank did on its own device in an interval, as disjoint parts. Collectives are not among them: what is left of
// the interval was spent in one, without compute.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline facts {
class Facts;
struct DeviceActivity;
struct IdleSpan;
}  // namespace gpuprof::facts

namespace gpuprof::inline ranks {

struct OwnTime {
    DurNs compute = 0;  // any kernel but collectives
    DurNs copy = 0;     // copies and fills, without kernels
    DurNs input = 0;    // idle while the host waited for input
    DurNs host = 0;     // idle while the host worked, launched or allocated
    DurNs unknown = 0;  // idle without a recorded cause: perhaps a wait for something that was not recorded

    // Of all parts with a recorded cause.
    DurNs known() const { return compute + copy + input + host; }
};

class OwnTimes {
public:
    explicit OwnTimes(const DeviceActivity& device);
    // Spans of one device, in time order.
    void add(const IdleSpan& span);
    OwnTime within(Interval part) const;
    DurNs unknown(Interval part) const;  // of within()

private:
    const IntervalSet& compute_;
    IntervalSet copy_, input_, host_, unknown_;
};

// In the order of Activity::devices.
struct DeviceOwnTimes {
    std::vector<OwnTimes> devices;
    static DeviceOwnTimes make(const Facts& facts);
};

}  // namespace gpuprof::ranks
