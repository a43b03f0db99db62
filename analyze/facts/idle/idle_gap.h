// One idle interval of a device, and the totals of a device's idle time.
#pragma once

#include <array>
#include <cstdint>

#include "analyze/facts/device_op.h"
#include "analyze/knowledge/causes.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

// One idle interval of one device.
struct IdleGap {
    TimeNs start = 0;
    DurNs dur = 0;
    std::int32_t device = 0;
    StringId host_thread = kNoString;     // key of the thread that submitted the next op
    StringId host_what = kNoString;       // host span that explains most of the gap, excluding recording overhead
    Row before = kNoRow, after = kNoRow;  // ops around the gap; kNoRow at the window's ends
    DeviceOp before_op = DeviceOp::none, after_op = DeviceOp::none;
    IdleCause cause = IdleCause::unknown;  // the cause with the largest piece
    bool recording =
        false;  // recording overhead explains more of that piece than any host span; host_what is then empty
};

// Totals of one device's idle time with one cause.
struct CauseTotal {
    DurNs total = 0;
    std::uint64_t count = 0;
};

struct DeviceIdle {
    std::int32_t device = 0;
    std::array<CauseTotal, kIdleCauses> causes;  // by IdleCause; totals sum to the device's idle time
    // Part of those totals in gaps that began while the submitting thread waited for the device, so its queue had run
    // empty. Excludes host work after the wait that takes longer than submitting again.
    std::array<DurNs, kIdleCauses> drained{};
    // Host compute in other gaps that are short enough to be launch cost, when no operators show what the host did.
    DurNs between_launches = 0;
};

// A piece of a gap with one cause.
struct IdleSpan {
    TimeNs start = 0;
    DurNs dur = 0;
    std::uint32_t gap = 0;  // index in GapList::gaps
    std::int32_t device = 0;
    IdleCause cause = IdleCause::unknown;
    StringId thread = kNoString;  // key of the thread that explains it
};

}  // namespace gpuprof::facts
