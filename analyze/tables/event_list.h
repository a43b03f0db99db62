// For analyses that list single events in time order: gives times relative to the window start and enforces the row
// limit, since a trace can have millions of events.
#pragma once

#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {

class EventList {
public:
    EventList(const Facts& facts, ResultTable& table)
        : zero_(facts.trace().zero()), limit_(facts.options().limit), table_(table) {}

    // Whether the next event gets a row; otherwise it is counted as omitted.
    bool wants_row() {
        if (limit_ <= 0 || static_cast<std::int64_t>(table_.rows()) < limit_) return true;
        ++table_.omitted;
        return false;
    }
    // Absent on overflow: instants may lie anywhere.
    Cell since_start(TimeNs time) const {
        std::int64_t since = 0;
        return __builtin_sub_overflow(time, zero_, &since) ? kAbsent : integer(since);
    }

private:
    TimeNs zero_;
    std::int64_t limit_;
    ResultTable& table_;
};

}  // namespace gpuprof::tables
