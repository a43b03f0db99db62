// The annotated spans of a trace as nested instances, each with its path ("training_step/forward"), and the instance in
// which each device op was submitted.
// Nesting is by time on one thread. A device op belongs to the innermost instance open on the calling thread when its
// call began, and to all enclosing instances. A call outside its thread's ranges is attributed to the thread of its
// process whose outermost ranges cover the most time: PyTorch runs backward operators on a separate
// thread, while the ranges around backward() are open on the thread that waits for it. All ProfilerStep#N share the
// name ProfilerStep*.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/facts/host/name_paths.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

inline constexpr std::uint32_t kNoRange = 0xFFFFFFFFu;

struct RangeInstance {
    TimeNs start = 0;
    TimeNs end = 0;
    DurNs self = 0;                   // time with no later instance open
    std::uint32_t parent = kNoRange;  // index of the enclosing instance, always smaller
    std::uint32_t path = 0;
    Row row = kNoRow;  // in `range`
};

class RangeTree {
public:
    explicit RangeTree(const Trace& trace);

    const PodVector<RangeInstance>& instances() const { return instances_; }
    const std::vector<NamePath>& paths() const { return paths_.all(); }
    // "a/b/c"; very deep paths are abbreviated in the middle ("a/.../z").
    std::string text(std::uint32_t path) const;
    // The innermost instance that contains an API call, or kNoRange.
    std::uint32_t instance_of_call(Row call) const { return call == kNoRow ? kNoRange : instance_of_call_[call]; }
    // Calls attributed to a thread other than their own.
    std::uint64_t lent_calls() const { return lent_calls_; }

private:
    struct Thread {
        StringId key = kNoString;
        std::uint32_t begin = 0, end = 0;  // its instances
        DurNs covered = 0;                 // by outermost ones
        std::uint32_t next = 0;            // first instance that open_at() has not reached
        std::uint32_t open = kNoRange;     // innermost one open where open_at() is
    };
    void read_threads();
    void measure_selves();
    void place_calls();
    std::uint32_t open_at(Thread& thread, TimeNs time) const;

    const Trace& trace_;
    PodVector<RangeInstance> instances_;
    NamePaths paths_;
    std::vector<Thread> threads_;
    PodVector<std::uint32_t> instance_of_call_;
    std::uint64_t lent_calls_ = 0;
};

}  // namespace gpuprof::facts
