// What a host thread was doing at each moment, flattened: nested spans become a row of segments, each with the cause it
// gives to an idle device and the name of the span that decided it. A span decides when its kind says so (a sync call, a
// data loader's range, an operator that submits work); otherwise it inherits from the span around it.
#pragma once

#include <map>
#include <vector>

#include "core/analyze/facts/host_timeline.h"
#include "core/analyze/knowledge/causes.h"
#include "core/analyze/knowledge/record_cost.h"
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
    PodVector<HostSegment> segments(const HostTimeline& timeline, StringId thread);

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
    class Flattener;
    Meaning meaning_of(const HostSpan& span);
    void flatten(const HostThread& piece, Flattener& flat);

    const Trace& trace_;
    std::vector<Meaning> by_name_[2];  // [is API call], by string id
};

// What the threads that submit device work did.
class HostStates {
public:
    // `submitters` are the threads, the busiest first, and must outlive the states.
    HostStates(const Trace& trace, const std::vector<StringId>& submitters);

    const PodVector<HostSegment>& segments(StringId thread) const { return segments_.at(thread); }
    // What writing the records in `part` cost the thread, which is in `segment` or, without one, in none.
    DurNs recording(StringId thread, Interval part, const HostSegment* segment) const;
    const std::vector<StringId>& submitters() const { return submitters_; }

private:
    const std::vector<StringId>& submitters_;
    std::map<StringId, PodVector<HostSegment>> segments_;
    RecordCost record_cost_;
    std::map<StringId, PodVector<TimeNs>> python_calls_;  // starts by thread, where the cost of these records is known
};

// First segment that ends after `time`. Times are mostly asked for in their order, so the answer is mostly just after the last
// one (`hint`): steps grow from there before the search is cut in halves.
std::size_t first_after(const PodVector<HostSegment>& segments, TimeNs time, std::size_t& hint);

}  // namespace gpuprof
