// For analyses that list single events in the order of time: times from the start of the window, and no more rows than the
// reader asked for, since a trace can have millions.
#pragma once

#include "core/analyze/tables/cells.h"

namespace gpuprof {

class EventList {
public:
    EventList(const Facts& facts, ResultTable& table)
        : zero_(facts.trace().zero()), limit_(facts.options().limit), table_(table) {}

    // Whether the next event has a row; it counts as left out otherwise.
    bool wants_row() {
        if (limit_ <= 0 || static_cast<std::int64_t>(table_.rows()) < limit_) return true;
        ++table_.omitted;
        return false;
    }
    // Absent when it does not fit: instants may lie anywhere.
    Cell since_start(TimeNs time) const {
        std::int64_t since = 0;
        return __builtin_sub_overflow(time, zero_, &since) ? kAbsent : integer(since);
    }

private:
    TimeNs zero_;
    std::int64_t limit_;
    ResultTable& table_;
};

}  // namespace gpuprof
