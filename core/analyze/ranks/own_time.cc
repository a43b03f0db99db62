#include "core/analyze/ranks/own_time.h"

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/gaps.h"

namespace gpuprof {

OwnTimes::OwnTimes(const Facts& facts, const DeviceActivity& device) : compute_(device.compute) {
    copy_ = subtract(unite(device.memcpy, device.memset), device.kernel());
    Intervals input, host, unknown;
    for (const IdleSpan& span : facts.get<IdleSpans>().spans) {
        if (span.device != device.device) continue;
        Interval part{span.start, span.start + span.dur};
        switch (span.cause) {
            case IdleCause::input_pipeline: input.push_back(part); break;
            case IdleCause::host_compute:
            case IdleCause::launch:
            case IdleCause::synchronisation:
            case IdleCause::host_memcpy:
            case IdleCause::allocation:
            case IdleCause::compilation:
            case IdleCause::profiler: host.push_back(part); break;
            case IdleCause::communication_wait:
            case IdleCause::nothing_submitted:
            case IdleCause::unknown: unknown.push_back(part); break;
        }
    }
    input_ = unite(std::move(input));
    host_ = unite(std::move(host));
    unknown_ = unite(std::move(unknown));
}

OwnTime OwnTimes::within(Interval part) const {
    return {length_within(compute_, part), length_within(copy_, part), length_within(input_, part),
            length_within(host_, part), length_within(unknown_, part)};
}

DurNs OwnTimes::unknown(Interval part) const { return length_within(unknown_, part); }

}  // namespace gpuprof
