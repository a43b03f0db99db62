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

// Sums the parts of a path by class and name.
class NamedParts {
public:
    using Sums = std::map<std::tuple<PathClass, StringId>, std::pair<DurNs, std::uint64_t>>;  // time and number

    explicit NamedParts(const Facts& facts) : trace_(facts.trace()), graph_(facts.get<ReplayGraph>()) {}
    void add(const PathPart& part) {
        const std::uint32_t object = graph_.object[part.point];
        const PointInfo& info = graph_.info[part.point];
        if (info.kind == PointKind::op)
            add(part.what, name_of_op(part.what, object), part.dur);
        else if (object == kNoRow || info.kind == PointKind::call_end)
            add(part.what, object == kNoRow ? kNoString : trace_.api_call().name.value_or(object, kNoString), part.dur);
        else
            host_code_[graph_.threads[info.lane]].push_back({part.dur, object, part.what});
    }
    Sums sums() && {
        name_host_code();
        return std::move(sums_);
    }

private:
    struct HostCode {
        DurNs dur;
        Row call;  // the time passed in front of it
        PathClass what;
    };
    void add(PathClass what, StringId name, DurNs dur) {
        auto& [time, count] = sums_[{what, name}];
        time += dur;
        ++count;
    }
    StringId name_of_op(PathClass what, std::uint32_t object) const {
        // A gap has no name of its own.
        if (what == PathClass::gap) return kNoString;
        switch (op_kind(object)) {
            case DeviceOp::kernel: return trace_.kernel().name.value_or(op_row(object), kNoString);
            case DeviceOp::memcpy: return trace_.memcpy().kind.value_or(op_row(object), kNoString);
            case DeviceOp::memset:
            case DeviceOp::none: return kNoString;
        }
        return kNoString;
    }
    // By the operator or range around it. A thread's spans are read in pieces: there may be millions.
    void name_host_code() {
        auto time_of = [&](const HostCode& each) { return trace_.api_call().start[each.call]; };
        HostTimeline timeline(trace_, {HostKind::range, HostKind::op});
        for (auto& [thread, own] : host_code_) {
            std::sort(own.begin(), own.end(), [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
            std::vector<TimeNs> times(own.size());
            std::transform(own.begin(), own.end(), times.begin(), time_of);
            const HostCode* next = own.begin();
            timeline.each_innermost_at(thread, times, [&](const HostThread& piece, std::uint32_t span) {
                add(next->what, span == kNoSpan ? kNoString : piece.spans[span].name, next->dur);
                ++next;
            });
            for (; next != own.end(); ++next) add(next->what, kNoString, next->dur);
        }
    }

    const Trace& trace_;
    const ReplayGraph& graph_;
    Sums sums_;
    std::map<StringId, PodVector<HostCode>> host_code_;  // by thread
};

// Handles of kernels and calls.
class PartHandles {
public:
    explicit PartHandles(const Facts& facts) : facts_(facts) {
        const KernelNames& kernels = facts.get<KernelNames>();
        for (std::size_t n = 1; n <= kernels.order.size(); ++n)
            kernel_handles_[kernels.with_handle(n)] = fmt::format("k-{}", n);
    }
    std::string of(PathClass what, StringId name) const {
        if (name == kNoString) return "";
        if (what == PathClass::kernel) {
            auto found = kernel_handles_.find(name);
            return found == kernel_handles_.end() ? "" : found->second;
        }
        return facts_.get<CallNames>().handle(name);
    }

private:
    const Facts& facts_;
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
    NamedParts parts(facts);
    CriticalPath path = critical_path_of(facts, Estimate::central, {}, [&](const PathPart& part) { parts.add(part); });
    const NamedParts::Sums sums = std::move(parts).sums();
    const PartHandles handles(facts);
    std::vector<std::pair<std::tuple<PathClass, StringId>, std::pair<DurNs, std::uint64_t>>> rows(sums.begin(),
                                                                                                  sums.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    auto steps = static_cast<DurNs>(facts.get<ReplayGraph>().steps.size() - 1);
    for (const auto& [key, sum] : rows) {
        auto [what, name] = key;
        auto [time, count] = sum;
        table.add(kCriticalpathColumns,
                  {facts.trace(), what, name, handles.of(what, name), count, time, steps, path.total});
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
