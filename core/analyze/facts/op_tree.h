// The tree PyTorch builds per thread before it averages (torch.autograd.profiler's key_averages): operators, annotations,
// API calls and profiler overhead, nested by time, each credited with the device work PyTorch credits it with.
// Reproduces PyTorch 2.11 exactly, its double counting included (pytorch/pytorch#193392): the rules, found by comparison
// with PyTorch's printed tables, are written out in tests/oracle/README.md, "ops"; the steps below carry its numbers.
// Not the tree of host_timeline.h: there a thread has only its own records, and a child may outlast its parent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/analyze/facts/id_map.h"
#include "core/analyze/facts/row_groups.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof {

enum class OpKind : std::uint8_t { op, annotation, call, overhead };

struct OpNode {
    TimeNs start = 0;
    DurNs dur = 0;
    DurNs device_ns = 0;            // device work credited to the record itself
    std::uint32_t name = 0;         // OpForest::name_text(); equal for equal names
    Row row = kNoRow;               // in the table of its kind
    std::uint32_t parent = kNoRow;  // index in the same tree, smaller than the node's own
    std::uint32_t children = 0;     // direct ones
    OpKind kind = OpKind::op;
    bool merged = false;          // dropped in favour of its parent; not to be counted
    bool adopted_credit = false;  // its credit is another record's too: PyTorch counts it twice

    TimeNs end() const { return start + dur; }
};

// The link of a device op or call: its external id, unless that repeats its own correlation, which is how Kineto of 2021
// to 2024 wrote "no link".
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

    // Trees are per thread; made anew by each call.
    std::size_t trees() const { return threads_.size(); }
    PodVector<OpNode> tree(std::size_t index) const;

    // Names are below names(): string ids of the trace, with every ProfilerStep#N folded into one, and "" for no name.
    std::size_t names() const { return trace_.strings().size() + 2; }
    std::string_view name_text(std::uint32_t name) const;
    // Whether the sum of all device durations does not fit 64 bits; device_ns is then meaningless.
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
    template <class Table>
    void append(PodVector<OpNode>& nodes, OpKind kind, const Table& table, std::size_t index) const;
    PodVector<OpNode> records_in_order(std::size_t index) const;
    std::optional<std::int64_t> owner_id(const OpNode& node) const;
    void credit_overhead(PodVector<OpNode>& nodes, std::uint32_t process) const;
    void credit_by_nesting(PodVector<OpNode>& nodes, std::uint32_t process) const;

    const Trace& trace_;
    Slots threads_, processes_;
    std::vector<std::uint32_t> process_of_;        // process slot by thread slot
    std::vector<std::uint32_t> name_;              // by string id: folded name, or kHidden
    std::vector<std::uint32_t> stopper_;           // by process slot: slot of the thread that stopped the profiler
    std::vector<IdMap<std::uint32_t>> operators_;  // by process slot: external id -> thread slot of the operator
    std::vector<IdMap<DurNs>> linked_;             // by process slot: id -> device work linked to it
    std::vector<IdMap<DurNs>> unlinked_;  // by process slot: correlation -> device work known by its call alone
    std::vector<IdMap<Row>> last_call_;   // by process slot: correlation -> last call that carries it
    std::vector<RowGroups> records_;      // by OpKind: rows by tree
    bool unlinked_any_ = false;
    bool overflowed_ = false;
};

}  // namespace gpuprof
