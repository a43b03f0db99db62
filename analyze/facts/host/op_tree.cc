// OpForest, the trees: records in order, nested, credited, wrappers merged.
#include "analyze/facts/host/op_tree.h"

#include <algorithm>
#include <optional>

#include "analyze/facts/merge_tail.h"

namespace gpuprof::inline facts {
namespace {

bool is_operator(const OpNode& node) { return node.kind == OpKind::op || node.kind == OpKind::annotation; }

// Outer before inner; of records that begin and end together, operators before calls and overhead.
bool op_before(const OpNode& a, const OpNode& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.dur != b.dur) return a.dur > b.dur;
    return is_operator(a) && !is_operator(b);
}

// Step 4.
void nest(PodVector<OpNode>& nodes) {
    std::uint32_t open = kNoRow;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        while (open != kNoRow && (nodes[i].start >= nodes[open].end() || nodes[i].end() > nodes[open].end()))
            open = nodes[open].parent;
        nodes[i].parent = open;
        if (open != kNoRow) ++nodes[open].children;
        open = i;
    }
}

// Step 5. Parents come before children, so one pass suffices: later nodes cannot change the case of an earlier one.
void merge_wrappers(PodVector<OpNode>& nodes) {
    for (OpNode& node : nodes) {
        if (node.parent == kNoRow) continue;
        if (nodes[node.parent].merged) node.parent = nodes[node.parent].parent;
        OpNode& parent = nodes[node.parent];
        if (parent.name != node.name || parent.children != 1) continue;
        node.merged = true;
        parent.children = node.children;
        parent.device_ns = node.device_ns;
        parent.adopted_credit = node.adopted_credit;
    }
}

}  // namespace

Interval OpForest::span_of(OpKind kind, Row row) const {
    auto span = [&](const auto& table) { return Interval{table.start[row], table.start[row] + table.dur[row]}; };
    switch (kind) {
        case OpKind::op: return span(trace_.op());
        case OpKind::annotation: return span(trace_.range());
        case OpKind::call: return span(trace_.api_call());
        case OpKind::overhead: break;
    }
    return span(trace_.tables().overhead);
}

// Takes a thousand records or more, up to a time at which all have ended.
OpForest::Records OpForest::take_part(Records& left) const {
    constexpr std::size_t kFew = 1 << 10;
    std::array<std::size_t, std::tuple_size_v<Records>> taken{};
    std::array<Interval, std::tuple_size_v<Records>> next;
    auto read = [&](std::size_t kind) {
        bool any = taken[kind] < left[kind].size();
        next[kind] = any ? span_of(static_cast<OpKind>(kind), left[kind][taken[kind]]) : Interval{INT64_MAX, INT64_MAX};
    };
    for (std::size_t kind = 0; kind < next.size(); ++kind) read(kind);
    TimeNs reach = INT64_MIN;
    for (std::size_t count = 0;; ++count) {
        auto first = std::min_element(next.begin(), next.end(), [](auto& a, auto& b) { return a.start < b.start; });
        if (first->start == INT64_MAX || (count >= kFew && first->start > reach)) break;
        reach = std::max({reach, first->start, first->end});
        auto kind = static_cast<std::size_t>(first - next.begin());
        ++taken[kind];
        read(kind);
    }
    Records part;
    for (std::size_t kind = 0; kind < part.size(); ++kind) {
        part[kind] = left[kind].first(taken[kind]);
        left[kind] = left[kind].subspan(taken[kind]);
    }
    return part;
}

template <class Table>
void OpForest::append(PodVector<OpNode>& nodes, OpKind kind, const Table& table, const Records& records) const {
    auto nameless = static_cast<std::uint32_t>(names() - 1);
    for (Row row : records[static_cast<std::size_t>(kind)]) {
        OpNode node;
        node.start = table.start[row];
        node.dur = table.dur[row];
        node.name = table.name.has(row) ? name_[index_of(table.name[row])] : nameless;
        node.row = row;
        node.kind = kind;
        nodes.push_back(node);
    }
}

PodVector<OpNode> OpForest::records_in_order(const Records& records) const {
    // Of operators that begin and end together, the outer one has the smaller id.
    auto id = [&](const OpNode& node) {
        const auto& ids = node.kind == OpKind::op ? trace_.op().external_id : trace_.range().external_id;
        return ids[node.row];
    };
    auto outer = [&](const OpNode& a, const OpNode& b) {
        return a.start == b.start && a.dur == b.dur ? id(a) < id(b) : op_before(a, b);
    };
    auto sort_ties = [&](OpNode* begin, OpNode* end) {
        while (begin != end) {
            OpNode* tied = begin + 1;
            while (tied != end && tied->start == begin->start && tied->dur == begin->dur) ++tied;
            if (tied - begin > 1) std::stable_sort(begin, tied, outer);
            begin = tied;
        }
    };
    PodVector<OpNode> nodes;
    std::size_t total = 0;
    for (const auto& rows : records) total += rows.size();
    nodes.reserve(total);
    append(nodes, OpKind::op, trace_.op(), records);
    sort_ties(nodes.begin(), nodes.end());
    std::size_t middle = nodes.size();
    append(nodes, OpKind::annotation, trace_.range(), records);
    sort_ties(nodes.begin() + middle, nodes.end());
    merge_tail(nodes, middle, outer);
    middle = nodes.size();
    append(nodes, OpKind::call, trace_.api_call(), records);
    merge_tail(nodes, middle, op_before);
    middle = nodes.size();
    append(nodes, OpKind::overhead, trace_.tables().overhead, records);
    merge_tail(nodes, middle, op_before);
    return nodes;
}

// The id under which a record is credited with device work; calls with a link and overhead records have no id.
std::optional<std::int64_t> OpForest::owner_id(const OpNode& node) const {
    switch (node.kind) {
        case OpKind::op: return trace_.op().external_id.get(node.row);
        case OpKind::annotation: return trace_.range().external_id.get(node.row);
        case OpKind::call:
            return trace_.api_call().external_id.has(node.row) ? std::nullopt
                                                               : trace_.api_call().correlation.get(node.row);
        case OpKind::overhead: return {};
    }
    return {};
}

// Step 2: an overhead record has the id of the last record open when it began, including the record's end time.
void OpForest::credit_overhead(PodVector<OpNode>& nodes, std::uint32_t process) const {
    struct Open {
        std::uint32_t node, parent;
    };
    PodVector<Open> opens;
    std::uint32_t open = kNoRow;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == OpKind::overhead || !(is_operator(nodes[i]) || owner_id(nodes[i]))) continue;
        while (open != kNoRow && nodes[opens[open].node].end() < nodes[i].start) open = opens[open].parent;
        opens.push_back({i, open});
        open = static_cast<std::uint32_t>(opens.size() - 1);
    }
    std::size_t next = 0;
    open = kNoRow;
    for (OpNode& overhead : nodes) {
        if (overhead.kind != OpKind::overhead) continue;
        for (; next < opens.size() && nodes[opens[next].node].start <= overhead.start; ++next)
            open = static_cast<std::uint32_t>(next);
        while (open != kNoRow && nodes[opens[open].node].end() < overhead.start) open = opens[open].parent;
        if (open == kNoRow) continue;
        if (auto id = owner_id(nodes[opens[open].node])) overhead.device_ns = linked_[process].find(*id);
        overhead.adopted_credit = overhead.device_ns != 0;
    }
}

// Step 3, device ops without a link: the operator that encloses the submitting call.
void OpForest::credit_by_nesting(PodVector<OpNode>& nodes, std::uint32_t process) const {
    const ApiCallTable& calls = trace_.api_call();
    for (const OpNode& call : nodes) {
        if (call.kind != OpKind::call || !calls.correlation.has(call.row)) continue;
        std::int64_t correlation = calls.correlation[call.row];
        DurNs work = unlinked_[process].find(correlation);
        if (work == 0 || last_call_[process].find(correlation) != call.row) continue;
        std::uint32_t owner = call.parent;
        while (owner != kNoRow && nodes[owner].kind != OpKind::op) owner = nodes[owner].parent;
        if (owner != kNoRow) nodes[owner].device_ns += work;
    }
}

PodVector<OpNode> OpForest::tree(const Records& records, std::uint32_t process) const {
    PodVector<OpNode> nodes = records_in_order(records);
    bool overhead = false;
    for (OpNode& node : nodes) {
        if (auto id = owner_id(node)) node.device_ns = linked_[process].find(*id);
        node.adopted_credit = node.kind == OpKind::call && node.device_ns != 0;
        overhead |= node.kind == OpKind::overhead;
    }
    if (overhead) credit_overhead(nodes, process);
    nest(nodes);
    if (unlinked_any_) credit_by_nesting(nodes, process);
    merge_wrappers(nodes);
    return nodes;
}

void OpForest::each_part(const std::function<void(PodVector<OpNode>&)>& visit) const {
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
        Records left;
        for (std::size_t kind = 0; kind < left.size(); ++kind) left[kind] = records_[kind][thread];
        for (;;) {
            PodVector<OpNode> nodes = tree(take_part(left), process_of_[thread]);
            if (nodes.empty()) break;
            visit(nodes);
        }
    }
}

OpOfKernel::OpOfKernel(const Trace& trace) : trace_(trace), timeline_(trace, {HostKind::op}) {
    std::unordered_map<std::uint32_t, StringId> process_of;
    const ThreadTable& threads = trace.tables().thread;
    for (Row row = 0; row < threads.rows; ++row)
        process_of[index_of(threads.key[row])] = threads.process.value_or(row, kNoString);
    const OpTable& ops = trace.op();
    auto each_id = [&](auto&& visit) {
        for (Row row = 0; row < ops.rows; ++row)
            if (ops.external_id.has(row))
                visit(by_id_[index_of(process_of[index_of(ops.thread[row])])], ops.external_id[row], row);
    };
    each_id([](IdMap<Row>& known, std::int64_t id, Row) { known.note(id); });
    for (auto& [process, known] : by_id_) known.prepare(kNoRow);
    each_id([](IdMap<Row>& known, std::int64_t id, Row row) {
        if (Row& first = known.at(id); first == kNoRow) first = row;
    });
}

Row OpOfKernel::find(Row kernel) {
    const KernelTable& kernels = trace_.kernel();
    std::optional<std::int64_t> link = op_link(kernels, kernel);
    if (!link) return open_at_launch(kernel);
    auto known = by_id_.find(index_of(kernels.process.value_or(kernel, kNoString)));
    return known == by_id_.end() ? kNoRow : known->second.find(*link);
}

Row OpOfKernel::open_at_launch(Row kernel) {
    Row launch = trace_.links().kernel_launch[kernel];
    const ApiCallTable& calls = trace_.api_call();
    if (launch == kNoRow || !calls.thread.has(launch)) return kNoRow;
    StringId key = calls.thread[launch];
    auto [known, added] = threads_.try_emplace(index_of(key));
    if (added) known->second = timeline_.spans(key);
    std::uint32_t open = known->second.innermost_at(calls.start[launch]);
    return open == kNoSpan ? kNoRow : known->second.spans[open].row;
}

}  // namespace gpuprof::facts
