// What a host thread was doing at each moment, flattened: nested spans become a row of segments, each with the cause it
// gives to an idle device and the name of the span that decided it. A span decides when its kind says so (a sync call, a
// data loader's range, an operator that submits work); otherwise it inherits from the span around it.
#pragma once

#include "core/analyze/facts/host_timeline.h"
#include "core/analyze/knowledge/causes.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

struct HostSegment {
    TimeNs start = 0;
    TimeNs end = 0;
    StringId name = kNoString;  // span that decided the cause
    IdleCause cause = IdleCause::unknown;
    bool working = false;  // an operator or call is open, not only a range or Python frame around other threads' work
    std::uint16_t records = 0;  // operators and calls that begin in it
};

// Submitting one op takes microseconds. A call that launches and takes longer than this while the device is idle loads or
// compiles a module first (CUDA loads lazily); an operator that takes longer before it launches computes on the host.
inline constexpr DurNs kLongestLaunch = 1'000'000;

// What a thread's spans mean for an idle device, by name; remembers each name's answer. Used by one thread.
class HostMeaning {
public:
    explicit HostMeaning(const Trace& trace) : trace_(trace) {}

    // Segments of one thread: sorted, disjoint, neighbours with the same meaning merged. Between two of them nothing was
    // recorded.
    PodVector<HostSegment> segments(const HostThread& thread);

private:
    enum class Meaning : std::uint8_t {
        unknown_yet,
        inherit,
        input,
        launch_call,
        copy,
        set,
        sync,
        allocation,
        compilation,
        communication
    };
    Meaning meaning_of(const HostSpan& span);

    const Trace& trace_;
    std::vector<Meaning> by_name_[2];  // [is API call], by string id
};

}  // namespace gpuprof
