// `os_calls`: which operating-system calls took the program's time? One row per function that the recorder watched,
// longest first. Times are wall time: most of it is waiting (poll, sem_wait, pthread_cond_wait).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "analyze/facts/name_groups.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "core/schema/os_call_meta_keys.h"

namespace gpuprof::inline tables {
namespace {

struct OsCallsRow {
    const Trace& trace;
    const CallTimes& calls;
    const WideSum& whole;
};

constexpr auto kOsCallsColumns = columns_of<OsCallsRow>({
    {"name", CellType::text, Unit::none, "Function name.", [](auto& r) { return text_cell(r.trace, r.calls.name); }},
    {"count", CellType::integer, Unit::count, "Number of calls.", [](auto& r) { return r.calls.stat.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.",
     [](auto& r) { return r.calls.stat.sum.value(); }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of the sum over all functions.",
     [](auto& r) { return percent(r.calls.stat.sum.real(), r.whole.real()); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration.", [](auto& r) { return r.calls.stat.mean; }},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank).", [](auto& r) { return r.calls.stat.p50; }},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank).",
     [](auto& r) { return r.calls.stat.p95; }},
    {"max_ns", CellType::integer, Unit::ns, "Longest duration.", [](auto& r) { return r.calls.stat.max; }},
    {"threads", CellType::integer, Unit::count, "Number of threads that made the call.",
     [](auto& r) { return r.calls.threads == 0 ? kAbsent : integer(r.calls.threads); }},
});

// Calls that were too short to become rows. `record` counts them by function.
struct ShortCalls {
    std::string_view name;
    std::int64_t count = 0, ns = 0;
};

struct OsCallRecording {
    std::int64_t least_ns = 0;            // 0: not recorded by `record`
    std::vector<ShortCalls> short_calls;  // most time first
};

std::int64_t take_number(std::string_view& text) {
    std::int64_t number = 0;
    const char* end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
    return number;
}

OsCallRecording recording_of(const Trace& trace) {
    OsCallRecording recording;
    std::map<std::string_view, ShortCalls> by_name;
    const MetaTable& meta = trace.tables().meta;
    for (Row row = 0; row < meta.rows; ++row) {
        std::string_view key = trace.text(meta.key.value_or(row, kNoString)),
                         value = trace.text(meta.value.value_or(row, kNoString));
        if (key == meta_key::kOsCallsLeastNs) recording.least_ns = std::max(recording.least_ns, take_number(value));
        if (!key.starts_with(meta_key::kShortOsCalls)) continue;
        key.remove_prefix(std::string_view(meta_key::kShortOsCalls).size());
        ShortCalls& calls = by_name[key];
        calls.name = key;
        calls.count += take_number(value);
        calls.ns += take_number(value);
    }
    for (const auto& [name, calls] : by_name) recording.short_calls.push_back(calls);
    std::stable_sort(recording.short_calls.begin(), recording.short_calls.end(),
                     [](const ShortCalls& a, const ShortCalls& b) { return a.ns > b.ns; });
    return recording;
}

std::string note_of(const OsCallRecording& recording) {
    constexpr std::size_t kNamed = 5;
    std::string text = fmt::format("Calls shorter than {} are not in the table", readable_duration(recording.least_ns));
    const std::vector<ShortCalls>& all = recording.short_calls;
    for (std::size_t i = 0; i < std::min(kNamed, all.size()); ++i)
        text += fmt::format("{} {} {} ({})", i == 0 ? ":" : ",", readable_count(all[i].count), all[i].name,
                            readable_duration(all[i].ns));
    ShortCalls rest;
    for (std::size_t i = kNamed; i < all.size(); ++i) {
        rest.count += all[i].count;
        rest.ns += all[i].ns;
    }
    if (rest.count > 0)
        text += fmt::format(", {} of other functions ({})", readable_count(rest.count), readable_duration(rest.ns));
    return text + ".";
}

Result<ResultTable> os_calls_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("os_calls", kOsCallsColumns);
    table.handle_prefix = "os";
    WideSum whole;
    std::vector<CallTimes> groups = calls_by_name(trace, trace.tables().os_call);
    for (const CallTimes& group : groups) whole.add(group.stat.sum);
    for (const CallTimes& group : groups) table.add(kOsCallsColumns, {trace, group, whole});
    OsCallRecording recording = recording_of(trace);
    if (recording.least_ns > 0)
        table.notes.push_back(note_of(recording));
    else if (groups.empty())
        table.notes.push_back(
            "No operating-system calls were recorded; gpu-profile record --os-calls -- CMD records them, and nsys "
            "profile --trace=osrt.");
    return table;
}

}  // namespace

const Analysis kOsCalls{"os_calls", "osrt_sum", "Per operating-system function: calls and time.", kOsCallsColumns,
                        os_calls_table};

}  // namespace gpuprof::tables
