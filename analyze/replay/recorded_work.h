// What recording cost the host before each point of a replay: the number of records, and the recorder's own spans.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline replay {

struct RecordedWork {
    std::uint32_t calls = 0, ops = 0, python = 0, memory = 0;
    DurNs overhead_ns = 0;
};

// Work by point. A recording has tens of millions of points, and nearly all of them little work: four bytes hold it.
//   0 | memory, 7 bits | python, 8 bits | ops, 8 bits | calls, 8 bits     or     1 | index of what needs more, 31 bits
class WorkByPoint {
public:
    void push_back(RecordedWork work);
    RecordedWork operator[](std::size_t point) const;
    std::size_t size() const { return codes_.size(); }
    bool empty() const { return codes_.empty(); }

private:
    PodVector<std::uint32_t> codes_;
    std::vector<RecordedWork> wide_;
};

// Index of each thread in a list, by string id.
class LaneOf {
public:
    static constexpr std::uint16_t kNone = 0xFFFFu;
    LaneOf(const Trace& trace, const std::vector<StringId>& threads) : lane_(trace.strings().size(), kNone) {
        for (std::size_t i = 0; i < threads.size(); ++i) lane_[index_of(threads[i])] = static_cast<std::uint16_t>(i);
    }
    std::uint16_t operator[](StringId thread) const { return thread == kNoString ? kNone : lane_[index_of(thread)]; }

private:
    std::vector<std::uint16_t> lane_;
};

// Counts the recorder's work in one pass over all points in order of time.
class WorkCounter {
public:
    WorkCounter(const Trace& trace, const std::vector<StringId>& threads);
    // Whether the cost of the recorder's records is known.
    bool known() const { return known_; }
    // The work of a thread since its last point. Times do not decrease from one call to the next.
    RecordedWork before(std::uint16_t lane, TimeNs time) {
        if (time >= next_) advance(time);
        RecordedWork work = pending_[lane];
        pending_[lane] = {};
        return work;
    }

private:
    void advance(TimeNs time);

    const Trace& trace_;
    LaneOf lane_of_;
    bool known_ = false;
    std::vector<RecordedWork> pending_;  // by lane
    TimeNs next_ = 0;                    // no row is counted before it
    std::array<Row, 7> at_{};            // the next row of each table
    // Calls that were recorded, and paid for, but are not in the file: by row of the call after them; empty if there are none.
    PodVector<std::uint32_t> hidden_;
    PodVector<Row> memory_order_;  // of memory_event by time; empty if its rows are in order
};

}  // namespace gpuprof::replay
