#include "io/exporters/call_tree.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "io/exporters/lanes.h"

namespace gpuprof::inline exporters {
namespace {

class Builder {
public:
    explicit Builder(const Trace& trace) : trace_(trace), tables_(trace.tables()) {}

    CallTree build() {
        find_places();
        add_work(tables_.kernel, trace_.links().kernel_launch,
                 [&](Row row) { return named(tables_.kernel.name, row, "kernel"); });
        add_work(tables_.memcpy, trace_.links().memcpy_launch,
                 [&](Row row) { return "copy " + named(tables_.memcpy.kind, row, ""); });
        add_work(tables_.memset, trace_.links().memset_launch, [](Row) { return std::string("fill"); });
        return std::move(tree_);
    }

private:
    std::string named(const Column<StringId>& column, Row row, const char* otherwise) const {
        return column.has(row) ? std::string(trace_.text(column[row])) : otherwise;
    }

    std::uint32_t node(std::uint32_t parent, std::int32_t device, const std::string& name) {
        auto [known, added] =
            known_.try_emplace({parent, device, name}, static_cast<std::uint32_t>(tree_.nodes.size()));
        if (added) tree_.nodes.push_back({parent, name, device});
        return known->second;
    }

    // The place of every call that submitted something: the spans of its thread around its start.
    void find_places() {
        enum : std::uint32_t { kRange, kOp, kCall };
        place_.assign(tables_.api_call.rows, CallTree::kNone);
        std::vector<bool> submits(tables_.api_call.rows);
        for (const PodVector<Row>* launches :
             {&trace_.links().kernel_launch, &trace_.links().memcpy_launch, &trace_.links().memset_launch})
            for (Row call : *launches)
                if (call != kNoRow) submits[call] = true;
        std::map<StringId, std::vector<PlacedSpan>> threads;
        auto gather = [&](std::uint32_t source, const auto& table) {
            for (Row row = 0; row < table.rows; ++row)
                if (source != kCall || submits[row])
                    threads[table.thread.value_or(row, kNoString)].push_back(
                        {table.start[row], table.start[row] + table.dur[row], source, row});
        };
        gather(kRange, tables_.range);
        gather(kOp, tables_.op);
        gather(kCall, tables_.api_call);
        for (auto& [thread, spans] : threads) {
            sort_outer_first(spans);
            std::vector<std::pair<TimeNs, std::uint32_t>> open;  // end, node
            for (const PlacedSpan& span : spans) {
                while (!open.empty() && open.back().first <= span.start) open.pop_back();
                std::uint32_t around = open.empty() ? CallTree::kNone : open.back().second;
                if (span.table == kCall)
                    place_[span.row] = around;
                else
                    open.emplace_back(span.end,
                                      node(around, -1,
                                           span.table == kRange ? named(tables_.range.name, span.row, "range")
                                                                : named(tables_.op.name, span.row, "operator")));
            }
        }
    }

    template <class Table, class Name>
    void add_work(const Table& table, const PodVector<Row>& launches, Name&& name) {
        for (Row row = 0; row < table.rows; ++row) {
            std::uint32_t place = launches[row] == kNoRow ? CallTree::kNone : place_[launches[row]];
            CallTree::Node& leaf = tree_.nodes[node(place, table.device.value_or(row, 0), name(row))];
            leaf.device_ns += table.dur[row];
            ++leaf.count;
        }
    }

    const Trace& trace_;
    const Tables& tables_;
    CallTree tree_;
    std::vector<std::uint32_t> place_;  // by call
    std::map<std::tuple<std::uint32_t, std::int32_t, std::string>, std::uint32_t> known_;
};

}  // namespace

CallTree call_tree(const Trace& trace) { return Builder(trace).build(); }

}  // namespace gpuprof::exporters
