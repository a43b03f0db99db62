#include "analyze/replay/recorded_work.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analyze/knowledge/known_record_cost.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::uint32_t kWide = 0x80000000u;
constexpr std::int64_t kRestarted = 1'000'000;  // numbers of another process or part

// Recorders number calls consecutively.
PodVector<std::uint32_t> hidden_before(const ApiCallTable& calls) {
    PodVector<std::uint32_t> hidden;
    if (!calls.correlation.all_present() || calls.correlation.none_present()) return hidden;
    auto missing_after = [&](std::int64_t before, std::int64_t id) {
        std::int64_t missing = id - before - 1;
        return static_cast<std::uint32_t>(missing > 0 && missing < kRestarted ? missing : 0);
    };
    hidden.resize(calls.rows, 0);
    bool in_order = true;
    for (Row row = 1; row < calls.rows && in_order; ++row) {
        in_order = calls.correlation[row - 1] <= calls.correlation[row];
        hidden[row] = missing_after(calls.correlation[row - 1], calls.correlation[row]);
    }
    if (in_order) return hidden;
    std::fill(hidden.begin(), hidden.end(), std::uint32_t{0});
    PodVector<Row> by_id(calls.rows);
    std::iota(by_id.begin(), by_id.end(), Row{0});
    auto id = [&](Row row) { return calls.correlation[row]; };
    std::stable_sort(by_id.begin(), by_id.end(), [&](Row a, Row b) { return id(a) < id(b); });
    for (std::size_t i = 1; i < by_id.size(); ++i) hidden[by_id[i]] = missing_after(id(by_id[i - 1]), id(by_id[i]));
    return hidden;
}

}  // namespace

void WorkByPoint::push_back(RecordedWork work) {
    if (work.calls < 0x100 && work.ops < 0x100 && work.python < 0x100 && work.memory < 0x80 && work.overhead_ns == 0) {
        codes_.push_back(work.calls | work.ops << 8 | work.python << 16 | work.memory << 24);
        return;
    }
    codes_.push_back(kWide | static_cast<std::uint32_t>(wide_.size()));
    wide_.push_back(work);
}

RecordedWork WorkByPoint::operator[](std::size_t point) const {
    std::uint32_t code = codes_[point];
    if ((code & kWide) != 0) return wide_[code & ~kWide];
    auto part = [&](int shift) { return code >> shift & 0xFF; };
    return {part(0), part(8), part(16), part(24), 0};
}

WorkCounter::WorkCounter(const Trace& trace, const std::vector<StringId>& threads)
    : trace_(trace), lane_of_(trace, threads), pending_(threads.size()) {
    known_ = record_price(trace.origin().recorder_of_work()).call.central != 0;
    next_ = std::numeric_limits<TimeNs>::max();
    if (!known_) return;
    next_ = std::numeric_limits<TimeNs>::min();
    hidden_ = hidden_before(trace.api_call());
    // Other tables are in order of time (core/model/trace.h).
    const MemoryEventTable& memory = trace.tables().memory_event;
    auto earlier = [&](Row a, Row b) { return memory.time[a] < memory.time[b]; };
    bool in_order = true;
    for (Row row = 1; row < memory.rows && in_order; ++row) in_order = !earlier(row, row - 1);
    if (in_order) return;
    for (Row row = 0; row < memory.rows; ++row) memory_order_.push_back(row);
    std::stable_sort(memory_order_.begin(), memory_order_.end(), earlier);
}

// Counts the rows before `time`; hidden calls came before the visible one, in the host code in front of it.
void WorkCounter::advance(TimeNs time) {
    const Tables& tables = trace_.tables();
    next_ = std::numeric_limits<TimeNs>::max();
    auto count = [&](std::size_t which, const auto& table, const auto& times, auto&& until, auto&& row_at, auto&& add) {
        Row& at = at_[which];
        for (; at < table.rows; ++at) {
            Row row = row_at(at);
            if (!until(times[row])) {
                next_ = std::min(next_, times[row]);
                return;
            }
            std::uint16_t lane = lane_of_[table.thread.value_or(row, kNoString)];
            if (lane != LaneOf::kNone) add(pending_[lane], row);
        }
    };
    auto earlier = [&](TimeNs row) { return row < time; };
    auto in_order = [](Row at) { return at; };
    auto op = [](RecordedWork& work, Row) { ++work.ops; };
    const ApiCallTable& calls = trace_.api_call();
    count(0, calls, calls.start, earlier, in_order, [](RecordedWork& work, Row) { ++work.calls; });
    if (!hidden_.empty())
        count(
            1, calls, calls.start, [&](TimeNs row) { return row <= time; }, in_order,
            [&](RecordedWork& work, Row row) { work.calls += hidden_[row]; });
    count(2, trace_.op(), trace_.op().start, earlier, in_order, op);
    count(3, trace_.range(), trace_.range().start, earlier, in_order, op);
    count(4, tables.python_call, tables.python_call.start, earlier, in_order,
          [](RecordedWork& work, Row) { ++work.python; });
    count(
        5, tables.memory_event, tables.memory_event.time, earlier,
        [&](Row at) { return memory_order_.empty() ? at : memory_order_[at]; },
        [](RecordedWork& work, Row) { ++work.memory; });
    count(6, tables.overhead, tables.overhead.start, earlier, in_order,
          [&](RecordedWork& work, Row row) { work.overhead_ns += tables.overhead.dur[row]; });
}

}  // namespace gpuprof::replay
