// One idle interval of a device, and what the idle time of a device adds up to.
#pragma once

#include <array>
#include <cstdint>

#include "core/analyze/facts/device_op.h"
#include "core/analyze/knowledge/causes.h"
#include "core/base/ids.h"

namespace gpuprof {

// One idle interval of one device.
struct IdleGap {
    std::int32_t device = 0;
    TimeNs start = 0;
    DurNs dur = 0;
    StringId host_thread = kNoString;     // key of the thread that submitted the next op
    StringId host_what = kNoString;       // name of the host span that explains most, beyond what recording cost
    Row before = kNoRow, after = kNoRow;  // ops that end and begin the gap; none at the window's ends
    DeviceOp before_op = DeviceOp::none, after_op = DeviceOp::none;
    IdleCause cause = IdleCause::unknown;  // the cause with the largest piece
    bool recording =
        false;  // making the records of that piece explains more of it than any host span; then there is no host_what
};

// The pieces of one device's idle time that have one cause.
struct CauseTotal {
    DurNs total = 0;
    std::uint64_t count = 0;
};

struct DeviceIdle {
    std::int32_t device = 0;
    std::array<CauseTotal, kIdleCauses> causes;  // by IdleCause; totals sum to the device's idle time
    // Of those totals, what lies in gaps that began while the thread that then submitted waited for the device: its queue
    // had run empty. What the host then does for its own sake, for longer than it takes to submit again, is not in it.
    std::array<DurNs, kIdleCauses> drained{};
    // Host compute in other gaps, each short enough to be the price of a launch, where no operators say what the host did.
    DurNs between_launches = 0;
    // Of the unknown: the next op had been submitted, or the host waited for the device itself; so the device waited for something that
    // is not in the recording.
    DurNs queued = 0;
};

// A piece of a gap with one cause.
struct IdleSpan {
    TimeNs start = 0;
    DurNs dur = 0;
    std::uint32_t gap = 0;  // index in IdleGaps::gaps
    IdleCause cause = IdleCause::unknown;
};

}  // namespace gpuprof
