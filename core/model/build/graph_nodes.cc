#include "core/model/build/graph_nodes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/model/build/links.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {
namespace {

constexpr std::int64_t kNoGraph = -1;

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

// What one launch of one graph executed. The signature is independent of the order, which may differ between branches.
struct Launch {
    Row call;
    std::int64_t graph;
    std::uint64_t nodes = 0, signature = 0;
    bool numbered = true;  // the recorder says which nodes they were
};

struct Key {
    Row call;
    std::int64_t graph;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    std::size_t operator()(const Key& key) const {
        return mixed(static_cast<std::uint64_t>(key.graph) << 32 ^ key.call);
    }
};

class Launches {
public:
    Launches(const Tables& tables, const Links& links, const PodVector<std::uint8_t>& is_graph_launch)
        : tables_(tables), links_(links), is_graph_launch_(is_graph_launch) {
        each_node([this](Row call, std::int64_t graph, std::int64_t node, std::uint64_t name) {
            auto [at, added] = at_.try_emplace(Key{call, graph}, launches_.size());
            if (added) launches_.push_back({call, graph});
            Launch& launch = launches_[at->second];
            ++launch.nodes;
            launch.signature += mixed(node >= 0 ? static_cast<std::uint64_t>(node) : name);
            launch.numbered &= node >= 0;
        });
    }

    GraphNodes check() {
        GraphNodes found;
        std::sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
            return a.graph != b.graph ? a.graph < b.graph : a.signature < b.signature;
        });
        for (std::size_t begin = 0, end = 0; begin < launches_.size(); begin = end) {
            while (end < launches_.size() && launches_[end].graph == launches_[begin].graph) ++end;
            if (launches_[begin].graph == kNoGraph)
                found.unchecked += alone(begin, end);
            else
                compare(begin, end, found);
        }
        return found;
    }

private:
    template <class Visit>
    void each_node(Visit&& visit) const {
        auto of = [&](const auto& ops, const PodVector<Row>& calls, auto&& name_of) {
            for (Row row = 0; row < ops.rows; ++row)
                if (calls[row] != kNoRow && is_graph_launch_[calls[row]] != 0)
                    visit(calls[row], ops.graph_id.value_or(row, kNoGraph), ops.graph_node_id.value_or(row, -1),
                          name_of(row));
        };
        of(tables_.kernel, links_.kernel_launch,
           [&](Row row) { return std::uint64_t{index_of(tables_.kernel.name.value_or(row, kNoString))}; });
        of(tables_.memcpy, links_.memcpy_launch, [](Row) { return std::uint64_t{1} << 40; });
        of(tables_.memset, links_.memset_launch, [](Row) { return std::uint64_t{2} << 40; });
    }

    // Launches, of unknown graphs, with nodes that no other launch executed. Random loss does not drop the same nodes
    // twice.
    std::uint64_t alone(std::size_t begin, std::size_t end) const {
        std::uint64_t count = 0;
        for (std::size_t i = begin; i < end; ++i) {
            bool before = i > begin && launches_[i - 1].signature == launches_[i].signature;
            bool after = i + 1 < end && launches_[i + 1].signature == launches_[i].signature;
            count += !before && !after;
        }
        return count;
    }

    void compare(std::size_t begin, std::size_t end, GraphNodes& found) {
        const Launch &first = launches_[begin], &last = launches_[end - 1];
        bool whole = !first.numbered && first.nodes == 1;  // one row represents the graph
        if (first.signature == last.signature) {
            if (end - begin == 1 && !whole) ++found.unchecked;
            return;
        }
        std::uint64_t most = 0, nodes = 0;
        for (std::size_t i = begin; i < end; ++i) {
            most = std::max(most, launches_[i].nodes);
            nodes += launches_[i].nodes;
        }
        if (loops().contains(first.graph))
            found.unchecked += end - begin;
        else
            found.missing += most * (end - begin) - nodes;
    }

    // Graphs of which one launch executed a node more than once: bodies of conditional nodes, repeated while the
    // condition held.
    const std::unordered_set<std::int64_t>& loops() {
        if (looked_for_loops_) return loops_;
        looked_for_loops_ = true;
        std::unordered_set<std::uint64_t> seen;
        each_node([&](Row call, std::int64_t graph, std::int64_t node, std::uint64_t) {
            std::uint64_t place = mixed(static_cast<std::uint64_t>(graph)) ^ mixed(static_cast<std::uint64_t>(node));
            if (graph != kNoGraph && !seen.insert(mixed(place ^ call)).second) loops_.insert(graph);
        });
        return loops_;
    }

    const Tables& tables_;
    const Links& links_;
    const PodVector<std::uint8_t>& is_graph_launch_;
    std::vector<Launch> launches_;
    std::unordered_map<Key, std::size_t, KeyHash> at_;
    std::unordered_set<std::int64_t> loops_;
    bool looked_for_loops_ = false;
};

}  // namespace

GraphNodes check_graph_nodes(const Tables& tables, const Links& links, const PodVector<std::uint8_t>& graph_launches) {
    return Launches(tables, links, graph_launches).check();
}

}  // namespace gpuprof::model
