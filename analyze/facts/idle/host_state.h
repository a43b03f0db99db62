// What a host thread was doing at each moment, flattened: nested spans become a sequence of segments, each with the
// cause it gives to an idle device and the name of the span that decided it. A span decides if its kind is decisive (a
// sync call, a data loader's range, an operator that submits work); otherwise it inherits from the enclosing span.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
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

// The segments of one thread, in order. A recording may have as many as calls, so each takes 16 bytes; the few that are longer than four
// seconds, or have one of more meanings than can be numbered, are kept in full as well.
class HostSegments {
public:
    std::size_t size() const { return packed_.size(); }
    bool empty() const { return packed_.empty(); }
    TimeNs start(std::size_t i) const { return packed_[i].start; }
    TimeNs end(std::size_t i) const {
        const Packed& segment = packed_[i];
        return segment.meaning == kInFull ? in_full(i).end : segment.start + segment.dur;
    }
    HostSegment operator[](std::size_t i) const {
        const Packed& segment = packed_[i];
        if (segment.meaning == kInFull) return in_full(i);
        const Meaning& meaning = meanings_[segment.meaning];
        return {segment.start,  segment.start + segment.dur, meaning.name, meaning.cause, meaning.working,
                segment.records};
    }
    // It must start after those added earlier.
    void add(const HostSegment& segment);

private:
    struct Meaning {
        StringId name;
        IdleCause cause;
        bool working;
        bool operator==(const Meaning&) const = default;
    };
    struct Packed {
        TimeNs start;
        std::uint32_t dur;
        std::uint16_t meaning, records;
    };
    static constexpr std::uint16_t kInFull = UINT16_MAX;
    const HostSegment& in_full(std::size_t i) const;
    std::uint16_t number_of(const Meaning& meaning);

    PodVector<Packed> packed_;
    std::vector<Meaning> meanings_;
    std::map<std::uint64_t, std::uint16_t> numbers_;  // by meaning
    std::array<std::uint16_t, 64> recent_{};          // numbers of meanings, by a few bits of their names
    std::vector<std::pair<std::size_t, HostSegment>> in_full_;
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
    HostSegments segments(const HostTimeline& timeline, StringId thread);

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

    const HostSegments& segments(StringId thread) const { return segments_.at(thread); }
    // The cost of writing the records in `part` for the thread, which is in `segment`, if any.
    DurNs recording(StringId thread, Interval part, const HostSegment* segment) const;
    const std::vector<StringId>& submitters() const { return submitters_; }

private:
    const std::vector<StringId>& submitters_;
    std::map<StringId, HostSegments> segments_;
    RecordCost record_cost_;
    std::map<StringId, PodVector<TimeNs>> python_calls_;  // starts by thread, if the cost of these records is known
};

// First segment that ends after `time`. Lookups mostly come in time order, so the answer is mostly close to the last
// one (`hint`): an exponential search from there precedes the binary search.
std::size_t first_after(const HostSegments& segments, TimeNs time, std::size_t& hint);

}  // namespace gpuprof::facts
