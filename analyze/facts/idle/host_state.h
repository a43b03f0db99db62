// What a host thread was doing at each moment, flattened: nested spans become a sequence of segments, each with the
// cause it gives to an idle device and the name of the span that decided it. A span decides if its kind is decisive (a
// sync call, a data loader's range, an operator that submits work); otherwise it inherits from the enclosing span.
#pragma once

#include <map>
#include <vector>

#include "analyze/facts/host/loaders.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/knowledge/causes.h"
#include "analyze/knowledge/known_record_cost.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

struct HostSegment {
    TimeNs start = 0;
    TimeNs end = 0;
    StringId name = kNoString;  // span that decided the cause
    IdleCause cause = IdleCause::unknown;
    bool working = false;  // an operator or call is open, not only a range or Python frame around other threads' work
    std::uint16_t records = 0;  // operators and calls that begin in the segment
};

// Submitting one op takes microseconds. A launch call that takes longer than this while the device is idle first loads
// or compiles a module (CUDA loads lazily); an operator that takes longer before its launch computes on the host.
inline constexpr DurNs kMaxLaunchDuration = 1'000'000;

// The meaning of a thread's spans for an idle device, by name, with a cache per name. Not thread-safe.
class HostMeaning {
public:
    HostMeaning(const Trace& trace, const Loaders& loaders) : trace_(trace), loaders_(loaders) {}

    // Segments of one thread: sorted, disjoint, neighbours with the same meaning merged. Nothing was recorded between
    // two segments.
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
    const Loaders& loaders_;
    std::vector<Meaning> by_name_[2];  // [is API call], by string id
};

// The activity of the threads that submit device work. While a thread slept, it waited for work, whatever range was open.
class HostStates {
public:
    explicit HostStates(const Facts& facts);

    const PodVector<HostSegment>& segments(StringId thread) const { return segments_.at(thread); }
    // The cost of writing the records in `part` for the thread, which is in `segment`, if any.
    DurNs recording(StringId thread, Interval part, const HostSegment* segment) const;
    const std::vector<StringId>& submitters() const { return submitters_; }

private:
    const std::vector<StringId>& submitters_;
    std::map<StringId, PodVector<HostSegment>> segments_;
    RecordCost record_cost_;
    std::map<StringId, PodVector<TimeNs>> python_calls_;  // starts by thread, if the cost of these records is known
};

// First segment that ends after `time`. Lookups mostly come in time order, so the answer is mostly close to the last
// one (`hint`): an exponential search from there precedes the binary search.
std::size_t first_after(const PodVector<HostSegment>& segments, TimeNs time, std::size_t& hint);

}  // namespace gpuprof::facts
