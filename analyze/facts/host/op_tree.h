// The tree that PyTorch builds per thread before it averages (torch.autograd.profiler's key_averages): operators,
// annotations, API calls and profiler overhead, nested by time, each credited with the same device work as in PyTorch.
// Reproduces PyTorch 2.11 exactly, including its double counting (pytorch/pytorch#193392). The rules, found by
// comparison with PyTorch's printed tables, are in tests/oracle/README.md, "ops"; the steps below carry its numbers.
// This is not the tree of host_timeline.h, where a thread has only its own records and a child may outlast its parent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/facts/host/row_groups.h"
#include "analyze/facts/id_map.h"
#include "analyze/facts/idle/host_timeline.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

enum class OpKind : std::uint8_t { op, annotation, call, overhead };

struct OpNode {
    TimeNs start = 0;
    DurNs dur = 0;
    DurNs device_ns = 0;            // device work credited to the record itself
    std::uint32_t name = 0;         // OpForest::name_text(); equal for equal names
    Row row = kNoRow;               // in the table of its kind
    std::uint32_t parent = kNoRow;  // index in the same part, smaller than the node's own index
    std::uint32_t children = 0;     // direct ones
    OpKind kind = OpKind::op;
    bool merged = false;          // dropped in favour of its parent; not to be counted
    bool adopted_credit = false;  // another record has the same credit: PyTorch counts it twice

    TimeNs end() const { return start + dur; }
};

// The link of a device op or call: its external id, unless equal to its own correlation id, which is how Kineto wrote
// "no link" from 2021 to 2024.
template <class Table>
std::optional<std::int64_t> op_link(const Table& table, Row row) {
    if (!table.external_id.has(row)) return {};
    if (table.correlation.has(row) && table.correlation[row] == table.external_id[row]) return {};
    return table.external_id[row];
}

class OpForest {
public:
    // `trace` must outlive the forest.
    explicit OpForest(const Trace& trace);

    // Visits the tree of each thread in parts, between which nothing is open: a long recording has millions of nodes.
    void each_part(const std::function<void(PodVector<OpNode>&)>& visit) const;

    // Names are less than names(): string ids of the trace, with all ProfilerStep#N merged into one, and "" for no
    // name.
    std::size_t names() const { return trace_.strings().size() + 2; }
    std::string_view name_text(std::uint32_t name) const;
    // Whether the sum of all device durations overflows 64 bits; device_ns is then meaningless.
    bool overflowed() const { return overflowed_; }

private:
    template <class Table>
    std::uint32_t process_of_thread_row(const Table& table, Row row) const;
    void name_records();
    void find_operators_by_id();
    void sum_device_work();
    void find_stopping_threads();
    void place_records();
    void find_last_calls();
    std::uint32_t tree_of_call(Row row) const;
    using Records = std::array<std::span<const Row>, 4>;  // of one thread, by OpKind
    Interval span_of(OpKind kind, Row row) const;
    Records take_part(Records& left) const;
    template <class Table>
    void append(PodVector<OpNode>& nodes, OpKind kind, const Table& table, const Records& records) const;
    PodVector<OpNode> records_in_order(const Records& records) const;
    PodVector<OpNode> tree(const Records& records, std::uint32_t process) const;
    std::optional<std::int64_t> owner_id(const OpNode& node) const;
    void credit_overhead(PodVector<OpNode>& nodes, std::uint32_t process) const;
    void credit_by_nesting(PodVector<OpNode>& nodes, std::uint32_t process) const;

    const Trace& trace_;
    Slots threads_, processes_;
    std::vector<std::uint32_t> process_of_;        // process slot by thread slot
    std::vector<std::uint32_t> name_;              // by string id: merged name, or kHidden
    std::vector<std::uint32_t> stopper_;           // by process slot: slot of the thread that stopped the profiler
    std::vector<IdMap<std::uint32_t>> operators_;  // by process slot: external id -> thread slot of the operator
    std::vector<IdMap<DurNs>> linked_;             // by process slot: id -> device work linked to it
    std::vector<IdMap<DurNs>> unlinked_;  // by process slot: correlation -> device work linked only by its call
    std::vector<IdMap<Row>> last_call_;   // by process slot: correlation -> last call with it
    std::vector<RowGroups> records_;      // by OpKind: rows by tree
    bool unlinked_any_ = false;
    bool overflowed_ = false;
};

// The framework operator that launched a kernel: the one its external id names, or else the innermost operator open on the
// launching thread at launch.
class OpOfKernel {
public:
    explicit OpOfKernel(const Trace& trace);
    // The row in `op`, or kNoRow.
    Row find(Row kernel);

private:
    Row open_at_launch(Row kernel);

    const Trace& trace_;
    HostTimeline timeline_;
    std::unordered_map<std::uint32_t, IdMap<Row>> by_id_;    // by process: external id -> the first op with it
    std::unordered_map<std::uint32_t, HostThread> threads_;  // by key
};

}  // namespace gpuprof::facts
