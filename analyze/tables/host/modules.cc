// `modules`: what did each module of the model cost, on the host and on the device? One row per path of nested module
// calls; module_tree.h defines which device ops belong to which module, and how backward work is matched to its module.
// Device times are sums over device ops (kernels, memcpys, memsets), as in `ops`; each op counts in its module and in
// the enclosing ones. Work outside modules, such as the optimizer's, is in no row; a note gives its amount.
// Order: device_total_ns + backward_total_ns, then host_total_ns, largest first, so that a module comes before its
// nested modules where device work is known.
#include <algorithm>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/device_op.h"
#include "analyze/facts/host/graph_origins.h"
#include "analyze/facts/host/module_tree.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

// Device work of one path: its own, and including nested paths.
struct ModuleWork {
    WideSum device, backward, device_total, backward_total;
    std::uint64_t kernels = 0;
    WideSum both_total() const {
        WideSum sum = device_total;
        sum.add(backward_total);
        return sum;
    }
};

struct ModulesRow {
    std::string_view path;
    const ModuleCalls& calls;
    const ModuleWork& work;
    bool device_known, backward_known;
};

constexpr auto kModulesColumns = columns_of<ModulesRow>({
    {"path", CellType::text, Unit::none, "Nested modules, outermost first, as class_number, separated by /.",
     [](auto& r) { return r.path; }},
    {"count", CellType::integer, Unit::count, "Number of calls.", [](auto& r) { return r.calls.count; }},
    {"host_total_ns", CellType::integer, Unit::ns, "Sum of the durations of the calls on the host.",
     [](auto& r) { return r.calls.host_total.value(); }},
    {"host_self_ns", CellType::integer, Unit::ns, "host_total_ns without nested modules.",
     [](auto& r) { return r.calls.host_self.value(); }},
    {"device_total_ns", CellType::integer, Unit::ns, "Device time of ops submitted in the calls, without backward.",
     [](auto& r) { return r.device_known ? integer(r.work.device_total.value()) : kAbsent; }},
    {"backward_total_ns", CellType::integer, Unit::ns,
     "Device time of the backward pass; absent if its modules are unknown.",
     [](auto& r) { return r.backward_known ? integer(r.work.backward_total.value()) : kAbsent; }},
    {"device_self_ns", CellType::integer, Unit::ns, "device_total_ns without nested modules.",
     [](auto& r) { return r.device_known ? integer(r.work.device.value()) : kAbsent; }},
    {"backward_self_ns", CellType::integer, Unit::ns, "backward_total_ns without nested modules.",
     [](auto& r) { return r.backward_known ? integer(r.work.backward.value()) : kAbsent; }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels, forward and backward.",
     [](auto& r) { return r.device_known ? integer(r.work.kernels) : kAbsent; }},
});

struct DeviceWork {
    std::vector<ModuleWork> paths;
    WideSum all, outside;
};

// The row of graph_node that says where work of a CUDA graph was captured.
Row node_of(const Facts& facts, DeviceOp kind, Row row) {
    const GraphOrigins& origins = facts.get<GraphOrigins>();
    auto find = [&](const auto& table) {
        return table.graph_node_id.has(row)
                   ? origins.of_node(table.process.value_or(row, kNoString), table.graph_node_id[row], table.start[row])
                   : kNoRow;
    };
    const Trace& trace = facts.trace();
    if (!origins.any() || kind == DeviceOp::none) return kNoRow;
    return kind == DeviceOp::kernel   ? find(trace.kernel())
           : kind == DeviceOp::memcpy ? find(trace.memcpy())
                                      : find(trace.memset());
}

DeviceWork device_work(const Facts& facts, const ModuleTree& tree) {
    DeviceWork work;
    work.paths.resize(tree.paths().size());
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        DeviceOps ops(facts.trace(), device.device);
        while (ops.next()) {
            ModuleOwner owner = tree.owner_of_node(node_of(facts, ops.kind(), ops.row()));
            if (owner.path == kNoPath) owner = tree.owner_of_call(launch_of(facts.trace(), ops.kind(), ops.row()));
            work.all.add(ops.span().length());
            if (owner.path == kNoPath) {
                work.outside.add(ops.span().length());
                continue;
            }
            ModuleWork& path = work.paths[owner.path];
            (owner.backward ? path.backward : path.device).add(ops.span().length());
            path.kernels += ops.kind() == DeviceOp::kernel;
        }
    }
    for (ModuleWork& path : work.paths) {
        path.device_total = path.device;
        path.backward_total = path.backward;
    }
    // Enclosing paths come first.
    for (std::size_t i = work.paths.size(); i-- > 0;) {
        std::uint32_t parent = tree.paths()[i].parent;
        if (parent == kNoPath) continue;
        work.paths[parent].device_total.add(work.paths[i].device_total);
        work.paths[parent].backward_total.add(work.paths[i].backward_total);
        work.paths[parent].kernels += work.paths[i].kernels;
    }
    return work;
}

std::vector<std::uint32_t> in_order(const ModuleTree& tree, const DeviceWork& work,
                                    const std::vector<std::string>& texts) {
    std::vector<std::uint32_t> order(texts.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        WideSum of_a = work.paths[a].both_total(), of_b = work.paths[b].both_total();
        if (of_a != of_b) return of_a > of_b;
        const WideSum &host_a = tree.calls()[a].host_total, &host_b = tree.calls()[b].host_total;
        return host_a != host_b ? host_a > host_b : texts[a] < texts[b];
    });
    return order;
}

void note_outside(const DeviceWork& work, ResultTable& table) {
    if (work.outside == WideSum{}) return;
    table.notes.push_back(fmt::format(
        "{} of {} of device time is in no row: it was submitted outside module calls and their backward pass.",
        readable_duration(work.outside.real()), readable_duration(work.all.real())));
}

Result<ResultTable> modules_table(const Facts& facts) {
    ModuleTree tree(facts.trace());
    ResultTable table("modules", kModulesColumns);
    table.handle_prefix = "mod";
    if (tree.paths().empty()) {
        table.notes.push_back("No module calls were recorded; torch.profiler records them with with_stack=True.");
        return table;
    }
    DeviceWork work = device_work(facts, tree);
    std::vector<std::string> texts;
    for (std::uint32_t path = 0; path < tree.paths().size(); ++path) texts.push_back(tree.text(path));
    bool known = facts.trace().api_call().rows > 0;
    bool backward_known = known && tree.backward_known();
    for (std::uint32_t path : in_order(tree, work, texts))
        table.add(kModulesColumns, {texts[path], tree.calls()[path], work.paths[path], known, backward_known});
    if (!known) table.notes.push_back("No API calls were recorded, so device work cannot be attributed to modules.");
    if (known) note_outside(work, table);
    return table;
}

}  // namespace

const Analysis kModules{"modules", "", "Per module of the model (torch.nn.Module): host time and device work.",
                        kModulesColumns, modules_table};

}  // namespace gpuprof::tables
