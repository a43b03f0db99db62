// `ops`: PyTorch's key_averages from the trace alone: what each framework operator and annotation cost on the host and
// on the device. Equal to PyTorch's own table, number by number, including device time that PyTorch credits twice (a
// note gives its amount); op_tree.h has the rules. One row per name; an operator and an annotation with the same name
// are two rows. Order: device_self_ns, then cpu_self_ns, largest first, since self times count nothing twice; then by
// name. The device option does not apply: PyTorch adds up all devices.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "analyze/facts/host/op_tree.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct OpTotals {
    std::uint32_t name = 0;
    OpKind kind = OpKind::op;
    std::uint64_t count = 0;
    WideSum cpu_total, cpu_self, device_total, device_self, device_memory;
    WideSum twice;  // part of device_total that another record is credited with too
    StringId shapes = kNoString;
    bool shapes_constant = true;
};

// The framework's device allocations by time, for sums over any interval.
class MemoryEvents {
public:
    explicit MemoryEvents(const Trace& trace) {
        const MemoryEventTable& table = trace.tables().memory_event;
        any_ = table.rows > 0;
        std::vector<std::pair<TimeNs, std::int64_t>> events;
        for (Row row = 0; row < table.rows; ++row)
            if (is_device(table.device_type.value_or(row, 0)) && table.time.has(row))
                events.emplace_back(table.time[row], table.bytes[row]);
        std::stable_sort(events.begin(), events.end(), [](auto& a, auto& b) { return a.first < b.first; });
        sums_.emplace_back();
        for (auto& [time, bytes] : events) {
            times_.push_back(time);
            sums_.push_back(sums_.back());
            sums_.back().add(bytes);
        }
    }
    bool any() const { return any_; }
    // Bytes allocated minus bytes released in [start, end], both ends included, by any thread, as PyTorch counts.
    void add_within(TimeNs start, TimeNs end, WideSum& to) const {
        auto first = std::lower_bound(times_.begin(), times_.end(), start) - times_.begin();
        auto last = std::upper_bound(times_.begin(), times_.end(), end) - times_.begin();
        to.add(sums_[static_cast<std::size_t>(last)]);
        to.subtract(sums_[static_cast<std::size_t>(first)]);
    }

private:
    // c10/core/DeviceType.h: CUDA, HIP, XPU, PrivateUse1.
    static bool is_device(std::int32_t type) { return type == 1 || type == 6 || type == 12 || type == 20; }

    bool any_ = false;
    std::vector<TimeNs> times_;
    std::vector<WideSum> sums_;  // sums_[i] = bytes of the first i events
};

class Averages {
public:
    explicit Averages(const Trace& trace)
        : trace_(trace), forest_(trace), memory_(trace), device_known_(!forest_.overflowed()) {
        for (auto& slots : slots_) slots.assign(forest_.names(), kNoRow);
        forest_.each_part([this](PodVector<OpNode>& tree) {
            count(tree);
            add_up_device_work(tree);
        });
    }
    std::vector<OpTotals> rows;
    bool device_known() const { return device_known_; }
    bool memory_known() const { return memory_.any(); }
    std::string_view name(const OpTotals& row) const { return forest_.name_text(row.name); }

private:
    // The row of an operator or annotation; null for calls and overhead.
    OpTotals* row_of(const OpNode& node) {
        if (node.kind != OpKind::op && node.kind != OpKind::annotation) return nullptr;
        std::uint32_t& slot = slots_[static_cast<std::size_t>(node.kind)][node.name];
        if (slot == kNoRow) {
            slot = static_cast<std::uint32_t>(rows.size());
            rows.emplace_back();
            rows.back().name = node.name;
            rows.back().kind = node.kind;
        }
        return &rows[slot];
    }

    void count(const PodVector<OpNode>& tree) {
        for (const OpNode& node : tree) {
            if (node.merged) continue;
            if (node.parent != kNoRow)
                if (OpTotals* parent = row_of(tree[node.parent])) parent->cpu_self.subtract(node.dur);
            OpTotals* row = row_of(node);
            if (row == nullptr) continue;
            note_shapes(node, *row);
            ++row->count;
            row->cpu_total.add(node.dur);
            row->cpu_self.add(node.dur);
            row->device_self.add(node.device_ns);
            if (memory_.any()) memory_.add_within(node.start, node.end(), row->device_memory);
        }
    }

    void note_shapes(const OpNode& node, OpTotals& row) {
        StringId shapes = node.kind == OpKind::op ? trace_.op().input_dims.value_or(node.row, kNoString) : kNoString;
        if (row.count == 0) row.shapes = shapes;
        if (row.shapes != shapes) row.shapes_constant = false;
    }

    // Turns each node's own device work into that of its subtree, from the last node to the first.
    void add_up_device_work(PodVector<OpNode>& tree) {
        for (std::size_t i = tree.size(); i-- > 0;) {
            OpNode& node = tree[i];
            if (node.merged || node.device_ns == 0) continue;
            if (node.adopted_credit) note_adopted(tree, node);
            if (OpTotals* row = row_of(node)) row->device_total.add(node.device_ns);
            if (node.parent == kNoRow) continue;
            DurNs& above = tree[node.parent].device_ns;
            device_known_ &= !__builtin_add_overflow(above, node.device_ns, &above);
        }
    }

    void note_adopted(const PodVector<OpNode>& tree, const OpNode& node) {
        for (std::uint32_t above = node.parent; above != kNoRow; above = tree[above].parent)
            if (OpTotals* row = row_of(tree[above])) row->twice.add(node.device_ns);
    }

    const Trace& trace_;
    OpForest forest_;
    MemoryEvents memory_;
    bool device_known_;
    std::vector<std::uint32_t> slots_[2];  // by OpKind: row by name
};

// The rows in the table's order; rows with the same name are adjacent, the operator before the annotation.
std::vector<const OpTotals*> ordered(const Averages& averages) {
    using Key = std::pair<WideSum, WideSum>;
    auto key = [](const OpTotals& row) { return Key{row.device_self, row.cpu_self}; };
    std::unordered_map<std::uint32_t, Key> best;
    std::vector<const OpTotals*> rows;
    for (const OpTotals& row : averages.rows) {
        auto [known, added] = best.try_emplace(row.name, key(row));
        if (!added) known->second = std::max(known->second, key(row));
        rows.push_back(&row);
    }
    std::sort(rows.begin(), rows.end(), [&](const OpTotals* a, const OpTotals* b) {
        if (a->name == b->name) return a->kind < b->kind;
        const Key &of_a = best.at(a->name), &of_b = best.at(b->name);
        return of_a != of_b ? of_a > of_b : averages.name(*a) < averages.name(*b);
    });
    return rows;
}

// Tells readers what PyTorch counts twice, so that they do not add it up.
void note_twice(const Averages& averages, const std::vector<const OpTotals*>& rows, ResultTable& table) {
    std::vector<const OpTotals*> affected;
    for (const OpTotals* row : rows)
        if (row->twice != WideSum{}) affected.push_back(row);
    std::stable_sort(affected.begin(), affected.end(), [](auto* a, auto* b) { return a->twice > b->twice; });
    if (affected.empty()) return;
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(affected.size(), 3); ++i)
        list += fmt::format("{}{} of {}", i == 0 ? "" : ", ", readable_duration(affected[i]->twice.real()),
                            averages.name(*affected[i]));
    table.notes.push_back(fmt::format(
        "As in PyTorch, device_total_ns counts some device work twice: {}{}. PyTorch credits it to the operator "
        "and again to nested profiler records or calls with the operator's id (pytorch/pytorch#193392).",
        list, affected.size() > 3 ? fmt::format(" and {} more names", affected.size() - 3) : ""));
}

struct OpsRow {
    const Trace& trace;
    const Averages& averages;
    const OpTotals& op;
};

constexpr auto kOpsColumns = columns_of<OpsRow>({
    {"name", CellType::text, Unit::none, "Operator or annotation; all ProfilerStep#N are merged into ProfilerStep*.",
     [](auto& r) { return text_cell(r.averages.name(r.op)); }},
    {"count", CellType::integer, Unit::count, "Number of calls.", [](auto& r) { return r.op.count; }},
    {"cpu_total_ns", CellType::integer, Unit::ns, "Host time including children.",
     [](auto& r) { return r.op.cpu_total.value(); }},
    {"cpu_self_ns", CellType::integer, Unit::ns, "Host time without children (operators, calls, profiler overhead).",
     [](auto& r) { return r.op.cpu_self.value(); }},
    {"device_total_ns", CellType::integer, Unit::ns, "Device time including children, as PyTorch credits it.",
     [](auto& r) { return r.averages.device_known() ? integer(r.op.device_total.value()) : kAbsent; }},
    {"device_self_ns", CellType::integer, Unit::ns, "Device time without children.",
     [](auto& r) { return r.averages.device_known() ? integer(r.op.device_self.value()) : kAbsent; }},
    {"device_mem_bytes", CellType::integer, Unit::bytes,
     "Device memory allocated minus released during the calls; absent if memory was not recorded.",
     [](auto& r) { return r.averages.memory_known() ? integer(r.op.device_memory.value()) : kAbsent; }},
    {"shapes", CellType::text, Unit::none, "Input shapes, if all calls share them.",
     [](auto& r) { return r.op.shapes_constant ? text_cell(r.trace, r.op.shapes) : kAbsent; }},
});

Result<ResultTable> ops_table(const Facts& facts) {
    Averages averages(facts.trace());
    std::vector<const OpTotals*> rows = ordered(averages);
    ResultTable table("ops", kOpsColumns);
    table.wanted = {"device_self_ns", "device_mem_bytes", "shapes"};
    table.handle_prefix = "op";
    for (const OpTotals* op : rows) table.add(kOpsColumns, {facts.trace(), averages, *op});
    if (!averages.device_known()) table.notes.push_back("Device times are omitted: their sums overflow 64 bits.");
    if (rows.empty() && !facts.trace().kernel().hlo_op.none_present())
        table.notes.push_back("No host operators were recorded; the hlo analysis lists kernels by XLA instruction.");
    note_twice(averages, rows, table);
    return table;
}

}  // namespace

const Analysis kOps{"ops", "", "Per framework operator: host and device time, as in PyTorch's key_averages.",
                    kOpsColumns, ops_table};

}  // namespace gpuprof::tables
