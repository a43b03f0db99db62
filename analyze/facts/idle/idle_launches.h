// Where the program was when it launched what ended idle time, from the stacks of launches. A stack is named by its
// place: the innermost Python function with its line or, without Python, the innermost native function.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "analyze/facts/idle/gaps.h"

namespace gpuprof::inline model {
class Trace;
}

namespace gpuprof::inline facts {

// The place of a stack: a frame of it.
std::string_view launch_place(std::string_view stack);

// Idle time that ended with launches from one place.
struct LaunchPlaceTime {
    std::string_view place;
    DurNs ns = 0;
};

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

}  // namespace gpuprof::facts
