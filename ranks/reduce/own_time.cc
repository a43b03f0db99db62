#include "ranks/reduce/own_time.h"

#include <algorithm>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/gaps.h"

namespace gpuprof::inline ranks {

OwnTimes::OwnTimes(const DeviceActivity& device)
    : compute_(device.compute()), copy_(subtract(unite(device.memcpy, device.memset), device.kernel())) {}

void OwnTimes::add(const IdleSpan& span) {
    Interval part{span.start, span.start + span.dur};
    switch (span.cause) {
        case IdleCause::input_pipeline: return add_merged(input_, part);
        case IdleCause::host_compute:
        case IdleCause::launch:
        case IdleCause::synchronisation:
        case IdleCause::host_memcpy:
        case IdleCause::allocation:
        case IdleCause::compilation:
        case IdleCause::graph:  // no other rank can have caused it
        case IdleCause::profiler: return add_merged(host_, part);
        case IdleCause::communication_wait:
        case IdleCause::nothing_submitted:
        case IdleCause::unrecorded_work:
        case IdleCause::waiting:
        case IdleCause::unknown: return add_merged(unknown_, part);
    }
}

DeviceOwnTimes DeviceOwnTimes::make(const Facts& facts) {
    DeviceOwnTimes made;
    const std::vector<DeviceActivity>& devices = facts.get<Activity>().devices;
    made.devices.reserve(devices.size());
    for (const DeviceActivity& device : devices) made.devices.emplace_back(device);
    each_idle_span(facts, [&](const IdleSpan& span) {
        auto of =
            std::lower_bound(devices.begin(), devices.end(), span.device,
                             [](const DeviceActivity& each, std::int32_t device) { return each.device < device; });
        made.devices[static_cast<std::size_t>(of - devices.begin())].add(span);
    });
    return made;
}

OwnTime OwnTimes::within(Interval part) const {
    return {length_within(compute_, part), length_within(copy_, part), length_within(input_, part),
            length_within(host_, part), length_within(unknown_, part)};
}

DurNs OwnTimes::unknown(Interval part) const { return length_within(unknown_, part); }

}  // namespace gpuprof::ranks
