// Finds the idle intervals of a device from its ops. Private to gaps.cc.
#pragma once

#include <algorithm>

#include "analyze/facts/device_op.h"
#include "analyze/facts/idle/idle_gap.h"

namespace gpuprof::inline facts {

// Iterates over the idle intervals of one device, without their causes.
class GapLister {
public:
    GapLister(const Trace& trace, std::int32_t device)
        : ops_(trace, device), free_from_(trace.window().start), end_(trace.window().end) {
        gap_.device = device;
    }
    // Advances to the next interval; false at the end.
    bool next() {
        while (ops_.next()) {
            if (ops_.span().length() <= 0) continue;  // an empty op does not end a gap
            gap_.before = last_;
            gap_.before_op = last_op_;
            gap_.after = ops_.row();
            gap_.after_op = ops_.kind();
            bool idle = close(ops_.span().start);
            if (ops_.span().end > free_from_ || last_ == kNoRow) {
                free_from_ = std::max(free_from_, ops_.span().end);
                last_ = ops_.row();
                last_op_ = ops_.kind();
            }
            if (idle) return true;
        }
        gap_.before = last_;
        gap_.before_op = last_op_;
        gap_.after = kNoRow;
        gap_.after_op = DeviceOp::none;
        bool idle = close(end_);
        free_from_ = end_;
        return idle;
    }
    const IdleGap& gap() const { return gap_; }

private:
    bool close(TimeNs until) {
        gap_.start = free_from_;
        gap_.dur = until - free_from_;
        return until > free_from_;
    }

    DeviceOps ops_;
    TimeNs free_from_, end_;
    Row last_ = kNoRow;  // the op with the latest end so far
    DeviceOp last_op_ = DeviceOp::none;
    IdleGap gap_;
};

}  // namespace gpuprof::facts
