// `gaps`: every idle interval of a device of at least gap_min_ns, longest first, with its cause: the activity of the
// host thread that submitted the next device op. The intervals before the first and after the last op of a device count
// too (before or after is absent there), so that with gap_min_ns 0 the gaps of a device sum to its idle time.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/idle/idle_cpu_waits.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// A thread that was preempted inside a call waited for a CPU, not for what the call is about.
std::string host_what(const Facts& facts, const IdleGap& gap) {
    const Trace& trace = facts.trace();
    if (gap.recording) return std::string(name_of(IdleCause::profiler));
    std::string_view what = gap.host_what == kNoString ? std::string_view() : trace.text(gap.host_what);
    std::string more;
    if (cpu_wait_of(facts, gap))
        more = "waiting for a CPU";
    else if (std::optional<OsCallTime> call = facts.get<IdleOsCalls>().of(gap))
        more = fmt::format("{}{}", what.empty() ? "" : "in ", call->text(trace));
    if (what.empty() && more.empty())
        if (std::string_view launch = facts.get<IdleLaunches>().of(trace, gap); !launch.empty())
            return fmt::format("before {}", launch);
    return what.empty() || more.empty() ? fmt::format("{}{}", what, more) : fmt::format("{} ({})", what, more);
}

Cell op_name(const Trace& trace, DeviceOp op, Row row) {
    switch (op) {
        case DeviceOp::kernel: return text_cell(trace, trace.kernel().name.value_or(row, kNoString));
        case DeviceOp::memcpy: return "memcpy";
        case DeviceOp::memset: return "memset";
        case DeviceOp::none: return kAbsent;
    }
    return kAbsent;
}

struct GapsRow {
    const Trace& trace;
    const IdleGap& gap;
    std::string what;
};

constexpr auto kGapsColumns = columns_of<GapsRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.gap.device; }},
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.gap.start - r.trace.zero(); }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.gap.dur; }},
    {"cause", CellType::text, Unit::none, "Cause of the largest part of the gap.",
     [](auto& r) { return name_of(r.gap.cause); }},
    {"host_thread", CellType::text, Unit::none, "process/thread that explains the gap; absent when unknown.",
     [](auto& r) { return text_cell(r.trace, r.gap.host_thread); }},
    {"host_what", CellType::text, Unit::none,
     "Range, operator or call on that thread that explains most of the gap, excluding recording overhead; "
     "`profiler` if the overhead explains more. An operating-system call in which the thread spent at least half "
     "of the gap is appended, as in `load_batch (in read)`, or stands alone; so is `waiting for a CPU`, if it was "
     "preempted for that long. Without any of these, the place of the launch that ended the gap, as in "
     "`before train (train.py:12)`.",
     [](auto& r) { return text_cell(r.what); }},
    {"before", CellType::text, Unit::none, "Device op that ended at the start of the gap.",
     [](auto& r) { return op_name(r.trace, r.gap.before_op, r.gap.before); }},
    {"after", CellType::text, Unit::none, "Device op that started at the end of the gap.",
     [](auto& r) { return op_name(r.trace, r.gap.after_op, r.gap.after); }},
});

// The gaps to list, in order. Only those within the row limit are sorted, since a trace can have millions.
std::vector<const IdleGap*> listed(const Facts& facts, std::size_t& omitted) {
    std::vector<const IdleGap*> gaps;
    for (const IdleGap& gap : facts.get<GapList>().gaps)
        if (gap.dur >= facts.options().gap_min_ns) gaps.push_back(&gap);
    std::size_t shown = gaps.size();
    if (facts.options().limit > 0) shown = std::min(shown, static_cast<std::size_t>(facts.options().limit));
    omitted = gaps.size() - shown;
    std::partial_sort(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(shown), gaps.end(),
                      [](const IdleGap* a, const IdleGap* b) { return listed_before(*a, *b); });
    gaps.resize(shown);
    return gaps;
}

Result<ResultTable> gaps_table(const Facts& facts) {
    ResultTable table("gaps", kGapsColumns);
    table.handle_prefix = "gap";
    for (const IdleGap* gap : listed(facts, table.omitted))
        table.add(kGapsColumns, {facts.trace(), *gap, host_what(facts, *gap)});
    return table;
}

}  // namespace

const Analysis kGaps{"gaps",       "gpu_gaps", "Idle intervals of each device, longest first, with their causes.",
                     kGapsColumns, gaps_table, {.about_idle = true, .reads = {AnalysisOption::gap_min_ns}}};

}  // namespace gpuprof::tables
