// Device ops of all devices in order of time, and the streams that they ran on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/replay/graph.h"
#include "core/model/trace.h"

namespace gpuprof::inline replay {

// One op, with what a replay needs of its row.
struct OpRow {
    DeviceOp kind = DeviceOp::none;
    Row row = kNoRow;
    TimeNs start = 0;
    DurNs dur = 0;
};

// Kernels, copies and fills merged by start.
class OpsByStart {
public:
    explicit OpsByStart(const Trace& trace) : trace_(trace) {}
    // kind is none after the last op.
    OpRow next() {
        OpRow found;
        peek(trace_.kernel(), DeviceOp::kernel, found);
        peek(trace_.memcpy(), DeviceOp::memcpy, found);
        peek(trace_.memset(), DeviceOp::memset, found);
        if (found.kind != DeviceOp::none) ++at_[static_cast<std::size_t>(found.kind)];
        return found;
    }

private:
    void peek(const auto& table, DeviceOp kind, OpRow& found) const {
        Row row = at_[static_cast<std::size_t>(kind)];
        if (row < table.rows && (found.kind == DeviceOp::none || table.start[row] < found.start))
            found = {kind, row, table.start[row], table.dur[row]};
    }
    const Trace& trace_;
    std::array<Row, 4> at_{};
};

// Numbers the streams of a recording: a stream is one of a process, a device and a context.
class OpStreams {
public:
    explicit OpStreams(const Trace& trace) : trace_(trace) {}
    std::uint16_t of(const OpRow& op) {
        switch (op.kind) {
            case DeviceOp::kernel: return number(trace_.kernel(), op.row);
            case DeviceOp::memcpy: return number(trace_.memcpy(), op.row);
            case DeviceOp::memset: return number(trace_.memset(), op.row);
            case DeviceOp::none: break;
        }
        return 0;
    }
    const std::vector<ReplayStream>& streams() const { return streams_; }

private:
    using Key = std::tuple<StringId, std::int32_t, std::int32_t, std::int64_t>;
    std::uint16_t number(const auto& table, Row row) {
        Key key{table.process.value_or(row, kNoString), table.device.value_or(row, -1), table.context.value_or(row, -1),
                table.stream.value_or(row, -1)};
        if (!streams_.empty() && key == last_key_) return last_;
        auto [found, created] = numbers_.try_emplace(key, static_cast<std::uint16_t>(streams_.size()));
        if (created) streams_.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key)});
        last_key_ = key;
        return last_ = found->second;
    }
    const Trace& trace_;
    std::map<Key, std::uint16_t> numbers_;
    std::vector<ReplayStream> streams_;
    Key last_key_{};
    std::uint16_t last_ = 0;
};

}  // namespace gpuprof::replay
