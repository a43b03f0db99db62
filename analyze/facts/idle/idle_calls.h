// The calls behind idle time: the launches that ended it, by place, and the operating-system calls in which the threads
// were that a device waited for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/idle/gaps.h"
#include "core/model/interval.h"

namespace gpuprof::inline model {
class Trace;
}

namespace gpuprof::inline facts {

// The place of a stack: the innermost Python function with its line or, without Python, the innermost native function.
std::string_view launch_place(std::string_view stack);

// Idle time that ended with launches from one place.
struct LaunchPlaceTime {
    std::string_view place;
    DurNs ns = 0;
};

// Where the program was when it launched what ended idle time, from the stacks of launches.
class IdleLaunches {
public:
    static IdleLaunches make(const Facts& facts);
    // The place of the launch that ended a gap; "" if it is unknown.
    std::string_view of(const Trace& trace, const IdleGap& gap) const;
    // The place with most of the idle time of a cause, of one device or of all; absent if it is less than half of it.
    std::optional<LaunchPlaceTime> top(const DeviceIdle& device, IdleCause cause) const;
    std::optional<LaunchPlaceTime> top(const IdleGaps& gaps, IdleCause cause) const;

private:
    using Times = std::map<std::string_view, DurNs>;
    using ByCause = std::array<Times, kIdleCauses>;
    ByCause all_;
    std::map<std::int32_t, ByCause> by_device_;
};

// Time in one function, and where most of it was called: the innermost frame that is the program's own; "" if no stack says.
struct OsCallTime {
    StringId name = kNoString;
    DurNs ns = 0;
    std::string_view place;
    // "poll" or "poll, called in wait_for_rank (solver)".
    std::string text(const Trace& trace) const;
};

class OsCallTimes {
public:
    void add(StringId name, std::string_view place, DurNs ns) { of_[name][place] += ns; }
    const std::map<StringId, std::map<std::string_view, DurNs>>& times() const { return of_; }
    // The function with the most time, the first recorded of several; absent if there is none.
    std::optional<OsCallTime> top() const;

private:
    std::map<StringId, std::map<std::string_view, DurNs>> of_;  // by function and place
};

// Of the threads that a device waited for. A thread that is in several calls at once (a signal handler's, inside another)
// counts for the one that began first.
struct IdleOsCalls {
    using ByCause = std::array<OsCallTimes, kIdleCauses>;
    ByCause all;  // by IdleCause, over all devices
    std::map<std::int32_t, ByCause> by_device;

    static IdleOsCalls make(const Facts& facts);
    // The function with most of that idle time, of one device or of all; absent if it is less than a tenth.
    std::optional<OsCallTime> top(const DeviceIdle& device, IdleCause cause) const;
    std::optional<OsCallTime> top(const IdleGaps& gaps, IdleCause cause) const;
    // The function in which the gap's host thread spent at least half of the gap.
    std::optional<OsCallTime> of(const IdleGap& gap) const;

private:
    struct Span {
        Interval time;  // disjoint, by start
        StringId name;
        std::string_view place;
    };
    OsCallTimes within(StringId thread, Interval part) const;
    std::map<StringId, std::vector<Span>> threads_;
};

}  // namespace gpuprof::facts
