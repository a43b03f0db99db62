// `criticalpath`: what makes a step as long as it is, once the recorder's cost is removed: the chain of kernels, copies, calls and
// host code in which each part begins when the one before ends. Its parts sum to the steps; shortening anything else gains
// nothing at first.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "analyze/facts/idle/host_timeline.h"
#include "analyze/facts/name_groups.h"
#include "analyze/replay/prediction.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct CriticalPathRow {
    const Trace& trace;
    PathClass what;
    StringId name;
    std::string handle;
    std::uint64_t count;
    DurNs time, steps, whole;
};

constexpr auto kCriticalpathColumns = columns_of<CriticalPathRow>({
    {"part", CellType::text, Unit::none,
     "kernel, copy, input, host code, launch call, allocation, other call, wait, hand-over or gap.",
     [](auto& r) { return name_of(r.what); }},
    {"name", CellType::text, Unit::none, "Kernel, direction of the copy, call, or operator or range around host code.",
     [](auto& r) { return text_cell(r.trace, r.name); }},
    {"handle", CellType::text, Unit::none, "Handle of the kernel (k-1) or call (a-1) in other tables.",
     [](auto& r) { return text_cell(r.handle); }},
    {"count", CellType::integer, Unit::count, "Number of parts.", [](auto& r) { return r.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Time on the critical path, all steps after the first.",
     [](auto& r) { return r.time; }},
    {"per_step_ns", CellType::integer, Unit::ns, "total_ns per step.", [](auto& r) { return r.time / r.steps; }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of the critical path.",
     [](auto& r) { return percent(r.time, r.whole); }},
});

// Names the parts of a path.
class PartNames {
public:
    PartNames(const Facts& facts, const PodVector<PathPart>& parts) : facts_(facts), graph_(facts.get<ReplayGraph>()) {
        const KernelNames& kernels = facts.get<KernelNames>();
        for (std::size_t n = 1; n <= kernels.order.size(); ++n)
            kernel_handles_[kernels.with_handle(n)] = fmt::format("k-{}", n);
        name_host_code(parts);
    }
    // Of the part at this place of the path.
    StringId name(std::size_t at, const PathPart& part) const {
        const Trace& trace = facts_.trace();
        std::uint32_t object = graph_.object[part.point];
        const PointInfo& info = graph_.info[part.point];
        if (info.kind == PointKind::op) {
            // A gap has no name of its own.
            if (part.what == PathClass::gap) return kNoString;
            switch (op_kind(object)) {
                case DeviceOp::kernel: return trace.kernel().name.value_or(op_row(object), kNoString);
                case DeviceOp::memcpy: return trace.memcpy().kind.value_or(op_row(object), kNoString);
                case DeviceOp::memset:
                case DeviceOp::none: return kNoString;
            }
        }
        if (object == kNoRow) return kNoString;
        if (info.kind == PointKind::call_end) return trace.api_call().name.value_or(object, kNoString);
        return around_[at];
    }
    std::string handle(PathClass what, StringId name) const {
        if (name == kNoString) return "";
        if (what == PathClass::kernel) {
            auto found = kernel_handles_.find(name);
            return found == kernel_handles_.end() ? "" : found->second;
        }
        return facts_.get<CallNames>().handle(name);
    }

private:
    // A thread's spans are read in pieces: there may be millions.
    void name_host_code(const PodVector<PathPart>& parts) {
        const Trace& trace = facts_.trace();
        auto time_of = [&](std::uint32_t at) { return trace.api_call().start[graph_.object[parts[at].point]]; };
        std::map<StringId, PodVector<std::uint32_t>> sought;  // parts by thread
        for (std::uint32_t at = 0; at < parts.size(); ++at) {
            const PointInfo& info = graph_.info[parts[at].point];
            if (info.kind != PointKind::op && info.kind != PointKind::call_end &&
                graph_.object[parts[at].point] != kNoRow)
                sought[graph_.threads[info.lane]].push_back(at);
        }
        around_.resize(parts.size(), kNoString);
        HostTimeline timeline(trace, {HostKind::range, HostKind::op});
        for (auto& [thread, own] : sought) {
            std::sort(own.begin(), own.end(), [&](auto a, auto b) { return time_of(a) < time_of(b); });
            std::vector<TimeNs> times(own.size());
            std::transform(own.begin(), own.end(), times.begin(), time_of);
            const std::uint32_t* next = own.begin();
            timeline.each_innermost_at(thread, times, [&](const HostThread& piece, std::uint32_t span) {
                if (span != kNoSpan) around_[*next] = piece.spans[span].name;
                ++next;
            });
        }
    }

    const Facts& facts_;
    const ReplayGraph& graph_;
    PodVector<StringId> around_;  // by part: the operator or range around host code
    std::map<StringId, std::string> kernel_handles_;
};

Result<ResultTable> criticalpath_table(const Facts& facts) {
    ResultTable table("criticalpath", kCriticalpathColumns);
    const ReplayValidity& validity = facts.get<ReplayValidity>();
    if (!validity.why_not.empty()) {
        table.notes.push_back(fmt::format("No critical path: {}; {}.", validity.why_not, validity.cure));
        return table;
    }
    if (facts.get<ReplayGraph>().steps.size() < 2) {
        table.notes.push_back("No critical path: only 1 step; record at least 2 steps.");
        return table;
    }
    CriticalPath path = critical_path_of(facts, Estimate::central);
    PartNames names(facts, path.parts);
    std::map<std::tuple<PathClass, StringId>, std::pair<DurNs, std::uint64_t>> sums;
    for (std::size_t at = 0; at < path.parts.size(); ++at) {
        const PathPart& part = path.parts[at];
        auto& [time, count] = sums[{part.what, names.name(at, part)}];
        time += part.dur;
        ++count;
    }
    std::vector<std::pair<std::tuple<PathClass, StringId>, std::pair<DurNs, std::uint64_t>>> rows(sums.begin(),
                                                                                                  sums.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    auto steps = static_cast<DurNs>(facts.get<ReplayGraph>().steps.size() - 1);
    for (const auto& [key, sum] : rows) {
        auto [what, name] = key;
        auto [time, count] = sum;
        table.add(kCriticalpathColumns,
                  {facts.trace(), what, name, names.handle(what, name), count, time, steps, path.total});
    }
    return table;
}

}  // namespace

const Analysis kCriticalPath{"criticalpath",
                             "",
                             "What makes a step as long as it is: the chain of parts without slack.",
                             kCriticalpathColumns,
                             criticalpath_table,
                             {.about_idle = true, .replays = true, .reads = {AnalysisOption::input_range}}};

}  // namespace gpuprof::tables
