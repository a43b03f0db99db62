#include "analyze/facts/idle/cpu_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "analyze/facts/facts.h"
#include "core/base/text/readable.h"
#include "core/model/trace.h"
#include "core/schema/cpu_meta_keys.h"

namespace gpuprof::inline facts {
namespace {

IntervalSet lost_parts(const Trace& trace) {
    const CpuSliceTable& slices = trace.tables().cpu_slice;
    Intervals lost;
    for (Row row = 0; row < slices.rows; ++row)
        if (!slices.thread.has(row) && slices.end_state.has(row) && trace.text(slices.end_state[row]) == kLostSlices)
            lost.push_back({slices.start[row], slices.start[row] + slices.dur[row]});
    return unite(std::move(lost));
}

bool touches(const IntervalSet& set, Interval part) {
    auto found = std::upper_bound(set.begin(), set.end(), part.start,
                                  [](TimeNs time, const Interval& each) { return time < each.end; });
    return found != set.end() && found->start < part.end;
}

}  // namespace

CpuWaits CpuWaits::make(const Facts& facts) {
    CpuWaits waits;
    const Trace& trace = facts.trace();
    const CpuSliceTable& slices = trace.tables().cpu_slice;
    waits.lost = lost_parts(trace);
    std::map<StringId, TimeNs> ready_since;        // threads whose last stretch ended by preemption
    for (Row row = 0; row < slices.rows; ++row) {  // by start
        if (!slices.thread.has(row)) continue;
        StringId thread = slices.thread[row];
        Interval slice{slices.start[row], slices.start[row] + slices.dur[row]};
        if (auto known = ready_since.find(thread); known != ready_since.end()) {
            Interval wait{known->second, slice.start};
            if (wait.length() > 0 && !touches(waits.lost, wait)) waits.of_thread[thread].push_back(wait);
            ready_since.erase(known);
        }
        if (slices.end_state.has(row) && trace.text(slices.end_state[row]) == kPreempted)
            ready_since[thread] = slice.end;
    }
    return waits;
}

DurNs CpuWaits::within(StringId thread, Interval part) const {
    auto found = of_thread.find(thread);
    if (found == of_thread.end()) return 0;
    DurNs sum = 0;
    auto wait = std::upper_bound(found->second.begin(), found->second.end(), part.start,
                                 [](TimeNs time, const Interval& each) { return time < each.end; });
    for (; wait != found->second.end() && wait->start < part.end; ++wait)
        sum += std::min(wait->end, part.end) - std::max(wait->start, part.start);
    return sum;
}

namespace {

// What is worth a sentence: shares of the time, and a time that no start of a program reaches by itself.
constexpr std::int64_t kMinReady = 10, kMinThrottled = 10, kMinStolen = 50;  // one part of
constexpr DurNs kMinReadyNs = 50'000'000;

struct Part {
    std::int64_t part = 0, whole = 0;
    bool at_least(std::int64_t one_of) const { return part > 0 && part >= whole / one_of; }
};

// "412 of 600", "1200000 40000000". Several processes of a job have one each.
Part sum_of(const Trace& trace, std::string_view wanted) {
    constexpr std::int64_t kMax = std::int64_t{1} << 60;
    Part sum;
    const MetaTable& meta = trace.tables().meta;
    for (Row row = 0; row < meta.rows; ++row) {
        if (trace.text(meta.key.value_or(row, kNoString)) != wanted) continue;
        std::string_view text = trace.text(meta.value.value_or(row, kNoString));
        Part one;
        const char* end = text.data() + text.size();
        auto first = std::from_chars(text.data(), end, one.part);
        const char* second = std::find_if(first.ptr, end, [](char c) { return c >= '0' && c <= '9'; });
        bool sound = first.ec == std::errc() && std::from_chars(second, end, one.whole).ec == std::errc();
        if (!sound || one.part < 0 || one.part > one.whole || one.whole > kMax - sum.whole) continue;
        sum.part += one.part;
        sum.whole += one.whole;
    }
    return sum;
}

std::string share(Part part) {
    return readable_percent(100.0 * static_cast<double>(part.part) /
                            static_cast<double>(std::max<std::int64_t>(1, part.whole)));
}

std::string quota_sentence(Part quota) {
    return fmt::format("a CPU quota of the command's control group was used up in {} of {} periods",
                       readable_count(quota.part), readable_count(quota.whole));
}

}  // namespace

std::vector<std::string> cpu_shortage_notes(const Facts& facts, const std::optional<CpuShortage>& launcher) {
    const Trace& trace = facts.trace();
    Part quota = sum_of(trace, meta_key::kCpuQuotaPeriods), stolen = sum_of(trace, meta_key::kCpuSteal);
    if (launcher && launcher->ready >= kMinReadyNs && Part{launcher->ready, launcher->seen}.at_least(kMinReady)) {
        std::string cause = quota.at_least(kMinThrottled)
                                ? quota_sentence(quota)
                                : "other programs, or more busy threads than CPUs that they may use";
        if (quota.part > 0 && !quota.at_least(kMinThrottled)) cause += "; " + quota_sentence(quota);
        if (stolen.at_least(kMinStolen))
            cause += fmt::format("; the hypervisor ran other virtual machines {} % of the CPUs' time", share(stolen));
        return {fmt::format("Thread {}, which launches device work, waited for a CPU {} % of the time ({}): {}.",
                            launcher->thread, share({launcher->ready, launcher->seen}),
                            readable_duration(launcher->ready), cause)};
    }
    if (quota.part == 0) return {};
    std::string sentence = quota_sentence(quota);
    sentence[0] = 'A';
    return {sentence + "; threads then waited for the next period."};
}

}  // namespace gpuprof::facts
