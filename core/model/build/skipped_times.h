// The times of rows that TraceBuilder skips: of these rows, only their effect on the window of the recording is needed.
// Rows whose times look wrong stay in their table, so that finish() judges them with all others.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/model/interval.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {

// Times further from zero are rejected: below this bound the difference of any two times fits DurNs.
inline constexpr TimeNs kMaxTime = TimeNs{1} << 61;
inline bool in_range(TimeNs time) { return time > -kMaxTime && time < kMaxTime; }

template <class Table>
constexpr bool kHasSpan = requires(Table t) {
    t.start;
    t.dur;
};

// Rows of schedulers, which record the whole machine: they say nothing of how long the program ran.
template <class Table>
constexpr bool kOfScheduler = std::is_same_v<Table, CpuSliceTable> || std::is_same_v<Table, GpuSliceTable>;

class SkippedTimes {
public:
    // Removes the rows of the tables of which no column is selected, except those with doubtful times. The tables are
    // closed.
    void take(Tables& tables, const ColumnSelection& selected);
    void shift(DurNs by);

    // From the first start to the last end of the spans taken; of the moments taken. Absent if there are none.
    const std::optional<Interval>& spans() const { return spans_; }
    const std::optional<Interval>& moments() const { return moments_; }
    std::uint64_t span_count() const { return span_count_; }

private:
    template <class Table>
    bool take_span(const Table& table, Row row);

    std::optional<Interval> spans_, moments_;
    std::uint64_t span_count_ = 0;
};

}  // namespace gpuprof::model
