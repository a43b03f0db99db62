// `ranges`: what did each annotated part of the program cost, on the host and on the device? One row per path of nested
// ranges (NVTX or user annotations); range_tree.h defines which device ops belong to which range.
// Host times are sums over the instances. gpu_span is the time from the first start to the last end of the device ops
// submitted in an instance, summed over instances; gpu_busy is the union of all ops submitted in any instance, per
// device, summed over devices, so it never exceeds the window. A range whose calls are unknown has no device columns:
// absent, not 0.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/device_op.h"
#include "analyze/facts/host/range_tree.h"
#include "analyze/facts/host/row_groups.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct PathTotals {
    Stat host;
    WideSum self, gpu_span, gpu_busy;
    std::uint64_t kernels = 0, ops = 0;
    TimeNs busy_to = INT64_MIN;  // on the device being processed
};

class RangeWork {
public:
    RangeWork(const Trace& trace, const RangeTree& tree, std::vector<PathTotals>& paths)
        : trace_(trace), tree_(tree), paths_(paths), spans_(tree.instances().size(), Interval{INT64_MAX, INT64_MIN}) {}

    // Ops come by start, so a running end per path makes the union.
    void add_device(std::int32_t device) {
        for (PathTotals& path : paths_) path.busy_to = INT64_MIN;
        DeviceOps ops(trace_, device);
        while (ops.next()) {
            std::uint32_t at = tree_.instance_of_call(launch_of(trace_, ops.kind(), ops.row()));
            for (; at != kNoRange; at = tree_.instances()[at].parent) add(at, ops.span(), ops.kind());
        }
    }
    void finish() {
        for (std::uint32_t i = 0; i < spans_.size(); ++i)
            if (spans_[i].start <= spans_[i].end) paths_[tree_.instances()[i].path].gpu_span.add(spans_[i].length());
    }

private:
    void add(std::uint32_t instance, Interval span, DeviceOp kind) {
        PathTotals& path = paths_[tree_.instances()[instance].path];
        spans_[instance].start = std::min(spans_[instance].start, span.start);
        spans_[instance].end = std::max(spans_[instance].end, span.end);
        TimeNs from = std::max(path.busy_to, span.start);
        if (span.end > from) path.gpu_busy.add(span.end - from);
        path.busy_to = std::max(path.busy_to, span.end);
        path.kernels += kind == DeviceOp::kernel;
        ++path.ops;
    }
    const Trace& trace_;
    const RangeTree& tree_;
    std::vector<PathTotals>& paths_;
    PodVector<Interval> spans_;  // of the device ops of each instance
};

std::vector<PathTotals> host_totals(const RangeTree& tree) {
    std::vector<PathTotals> paths(tree.paths().size());
    const PodVector<RangeInstance>& instances = tree.instances();
    RowGroups by_path(instances.size(), paths.size(), [&](Row i) { return instances[i].path; });
    for (std::size_t path = 0; path < paths.size(); ++path) {
        std::vector<std::int64_t> durations;
        for (Row i : by_path[path]) {
            durations.push_back(instances[i].end - instances[i].start);
            paths[path].self.add(instances[i].self);
        }
        paths[path].host = stat_of(durations);
    }
    return paths;
}

struct RangesRow {
    const std::string& text;
    const PathTotals& path;
    bool links_known;
};

constexpr auto kRangesColumns = columns_of<RangesRow>({
    {"path", CellType::text, Unit::none, "Names of the nested ranges, outermost first, separated by /.",
     [](auto& r) { return text_cell(r.text); }},
    {"count", CellType::integer, Unit::count, "Number of instances.", [](auto& r) { return r.path.host.count; }},
    {"host_total_ns", CellType::integer, Unit::ns, "Sum of the durations on the host.",
     [](auto& r) { return r.path.host.sum.value(); }},
    {"host_self_ns", CellType::integer, Unit::ns, "host_total_ns without nested ranges.",
     [](auto& r) { return r.path.self.value(); }},
    {"host_mean_ns", CellType::real, Unit::ns, "Mean duration on the host.", [](auto& r) { return r.path.host.mean; }},
    {"p50_ns", CellType::integer, Unit::ns, "Median duration on the host (nearest rank).",
     [](auto& r) { return r.path.host.p50; }},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile of the duration on the host (nearest rank).",
     [](auto& r) { return r.path.host.p95; }},
    {"gpu_span_ns", CellType::integer, Unit::ns,
     "Time from first start to last end of the device ops submitted in an instance, summed over instances.",
     [](auto& r) { return r.path.ops > 0 ? integer(r.path.gpu_span.value()) : kAbsent; }},
    {"gpu_busy_ns", CellType::integer, Unit::ns,
     "Time with a device op submitted inside the range in flight, summed over devices.",
     [](auto& r) { return r.links_known ? integer(r.path.gpu_busy.value()) : kAbsent; }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels submitted inside.",
     [](auto& r) { return r.links_known ? integer(r.path.kernels) : kAbsent; }},
});

Result<ResultTable> ranges_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    RangeTree tree(trace);
    std::vector<PathTotals> paths = host_totals(tree);
    RangeWork work(trace, tree, paths);
    for (const DeviceActivity& device : facts.get<Activity>().devices) work.add_device(device.device);
    work.finish();

    std::vector<std::uint32_t> order(paths.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < order.size(); ++i) texts.push_back(tree.text(i));
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const WideSum &of_a = paths[a].host.sum, &of_b = paths[b].host.sum;
        return of_a != of_b ? of_a > of_b : texts[a] < texts[b];
    });
    ResultTable table("ranges", kRangesColumns);
    table.handle_prefix = "r";
    bool links_known = trace.api_call().rows > 0;
    for (std::uint32_t path : order) table.add(kRangesColumns, {texts[path], paths[path], links_known});
    if (!links_known && !paths.empty())
        table.notes.push_back("No API calls were recorded, so device work cannot be attributed to ranges.");
    if (tree.lent_calls() > 0)
        table.notes.push_back(
            fmt::format("{} calls made outside their thread's ranges are attributed to the range open at that time on "
                        "the thread with the most time in ranges (PyTorch's backward pass runs on a separate thread).",
                        tree.lent_calls()));
    return table;
}

}  // namespace

const Analysis kRanges{"ranges", "nvtx_sum nvtx_gpu_proj_sum", "Per nested range: host time and device work.",
                       kRangesColumns, ranges_table};

}  // namespace gpuprof::tables
