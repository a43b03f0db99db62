// Device ops (kernels, memcpys, memsets) as one sequence: a merge of the three tables in time order.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

// The table of a device op.
enum class DeviceOp : std::uint8_t { none, kernel, memcpy, memset };

// The call that submitted an op, or kNoRow.
inline Row launch_of(const Trace& trace, DeviceOp kind, Row row) {
    switch (kind) {
        case DeviceOp::kernel: return trace.links().kernel_launch[row];
        case DeviceOp::memcpy: return trace.links().memcpy_launch[row];
        case DeviceOp::memset: return trace.links().memset_launch[row];
        case DeviceOp::none: return kNoRow;
    }
    return kNoRow;
}

// The ops of one device, or of all, by start; device -1 stands for ops without a device.
class DeviceOps {
public:
    DeviceOps(const Trace& trace, std::int32_t device) : trace_(trace), device_(device) {
        advance<DeviceOp::kernel>(trace.kernel());
        advance<DeviceOp::memcpy>(trace.memcpy());
        advance<DeviceOp::memset>(trace.memset());
    }
    // Advances to the next op; false at the end.
    bool next() {
        kind_ = DeviceOp::none;
        for (std::size_t i = 1; i < heads_.size(); ++i)
            if (heads_[i].row != kNoRow && (kind_ == DeviceOp::none || heads_[i].span.start < span_.start)) {
                kind_ = static_cast<DeviceOp>(i);
                span_ = heads_[i].span;
                row_ = heads_[i].row;
            }
        switch (kind_) {
            case DeviceOp::kernel: advance<DeviceOp::kernel>(trace_.kernel()); break;
            case DeviceOp::memcpy: advance<DeviceOp::memcpy>(trace_.memcpy()); break;
            case DeviceOp::memset: advance<DeviceOp::memset>(trace_.memset()); break;
            case DeviceOp::none: return false;
        }
        return true;
    }
    DeviceOp kind() const { return kind_; }
    Row row() const { return row_; }
    Interval span() const { return span_; }

private:
    struct Head {
        Row next = 0;
        Row row = kNoRow;
        Interval span;
    };
    // Advances one table to its next row on this device.
    template <DeviceOp Kind, class Table>
    void advance(const Table& table) {
        Head& head = heads_[static_cast<std::size_t>(Kind)];
        while (head.next < table.rows && table.device.value_or(head.next, -1) != device_) ++head.next;
        head.row = head.next < table.rows ? head.next++ : kNoRow;
        if (head.row != kNoRow) head.span = {table.start[head.row], table.start[head.row] + table.dur[head.row]};
    }
    const Trace& trace_;
    std::int32_t device_;
    std::array<Head, 4> heads_;
    DeviceOp kind_ = DeviceOp::none;
    Row row_ = kNoRow;
    Interval span_;
};

}  // namespace gpuprof::facts
