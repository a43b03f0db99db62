// In which operating-system calls the threads were that a device waited for. A thread that is in several calls at once (a
// signal handler's, inside another) counts for the one that began first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/idle/gaps.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

// Time in one function.
struct OsCallTime {
    StringId name = kNoString;
    DurNs ns = 0;
};

class OsCallTimes {
public:
    void add(StringId name, DurNs ns) { of_[name] += ns; }
    const std::map<StringId, DurNs>& times() const { return of_; }
    // The function with the most time, the first recorded of several; absent if there is none.
    std::optional<OsCallTime> top() const;

private:
    std::map<StringId, DurNs> of_;
};

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
    };
    OsCallTimes within(StringId thread, Interval part) const;
    std::map<StringId, std::vector<Span>> threads_;
};

}  // namespace gpuprof::facts
