#include "analyze/facts/idle/profiler_cost.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/knowledge/known_record_cost.h"
#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline facts {
namespace {

// Below this share of the window, a distortion does not change conclusions.
constexpr double kMinOverheadShare = 0.03;

template <class Table>
std::uint64_t count_on(const Table& table, const Submitters& submitters) {
    std::uint64_t count = 0;
    StringId last = kNoString;
    bool counted = false;
    for (Row row = 0; row < table.rows; ++row) {
        if (table.thread[row] != last) {
            last = table.thread[row];
            counted = submitters.has(last);
        }
        count += counted;
    }
    return count;
}

// Time inside recorded calls of these threads; nested calls count once.
DurNs time_in_calls(const Trace& trace, const Submitters& submitters) {
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, TimeNs> until;
    DurNs sum = 0;
    for (Row row = 0; row < calls.rows; ++row) {
        StringId thread = calls.thread.value_or(row, kNoString);
        if (!submitters.has(thread)) continue;
        TimeNs end = calls.start[row] + calls.dur[row];
        TimeNs& last = until.try_emplace(thread, trace.window().start).first->second;
        sum += std::max<DurNs>(0, end - std::max(calls.start[row], last));
        last = std::max(last, end);
    }
    return sum;
}

}  // namespace

ProfilerCost ProfilerCost::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    ProfilerCost result;
    Intervals overhead;
    for (Row row = 0; row < trace.tables().overhead.rows; ++row)
        overhead.push_back({trace.tables().overhead.start[row],
                            trace.tables().overhead.start[row] + trace.tables().overhead.dur[row]});
    result.overhead_ns = length(unite(std::move(overhead)));
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) {
        auto idle = [&](IdleCause cause) { return device.causes[static_cast<std::size_t>(cause)].total; };
        result.idle_in_overhead += idle(IdleCause::profiler);
        result.host_idle += idle(IdleCause::launch) + idle(IdleCause::host_compute);
    }
    if (RecordCost cost = record_cost(trace.origin().recorder_of_work()); cost.op_or_call > 0) {
        const Submitters& submitters = facts.get<Submitters>();
        std::uint64_t ops_and_calls = count_on(trace.op(), submitters) + count_on(trace.api_call(), submitters);
        std::uint64_t python_calls = count_on(trace.tables().python_call, submitters);
        result.records = ops_and_calls + python_calls;
        double whole = static_cast<double>(ops_and_calls) * static_cast<double>(cost.op_or_call) +
                       static_cast<double>(python_calls) * static_cast<double>(cost.python_call);
        // The overhead cannot include time spent in calls: an estimate that would leave the threads less than that is
        // too large.
        double left = static_cast<double>(trace.window().length()) * static_cast<double>(submitters.threads().size()) -
                      static_cast<double>(time_in_calls(trace, submitters));
        result.estimated_ns = static_cast<DurNs>(std::clamp(whole, 0.0, std::max(0.0, left)));
    }
    result.explained_ns = std::min(result.estimated_ns, result.host_idle);
    auto window = static_cast<double>(trace.window().length()) *
                  static_cast<double>(std::max<std::size_t>(1, facts.get<IdleGaps>().devices.size()));
    result.host_doubtful = 2 * result.explained_ns >= result.host_idle &&
                           static_cast<double>(result.host_idle) > kMinOverheadShare * window;
    result.overhead_large = static_cast<double>(result.idle_in_overhead) > kMinOverheadShare * window;
    return result;
}

namespace {

constexpr DurNs kMaxRecordNs = 1'000'000;  // no record costs a millisecond

// The values of a fact, one per process.
std::vector<DurNs> values_of(const Trace& trace, std::string_view key) {
    std::vector<DurNs> values;
    for (std::string_view text : meta_values(trace, key)) {
        DurNs value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value < kMaxRecordNs)
            values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace

// Of several processes: the lowest, the median and the highest.
RecorderPrice RecorderPrice::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    RecorderPrice found{record_price(trace.origin().recorder_of_work())};
    std::vector<DurNs> low = values_of(trace, meta_key::kCallRecordLowNs),
                       central = values_of(trace, meta_key::kCallRecordNs),
                       high = values_of(trace, meta_key::kCallRecordHighNs);
    if (low.empty() || central.empty() || high.empty()) return found;
    EstimatedNs call{low.front(), central[central.size() / 2], high.back()};
    if (call.low > call.central || call.central > call.high) return found;
    found.price.call = call;
    found.measured = true;
    return found;
}

}  // namespace gpuprof::facts
