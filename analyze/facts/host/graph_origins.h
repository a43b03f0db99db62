// Where the nodes of CUDA graphs come from, by the tables graph_node and graph_edge: device work of a launched graph names a node
// of the executable graph, which is a copy of one that was captured, possibly by way of other copies. Ids may be given again, and
// an update makes a node do what another one does, so all of this depends on the time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

class GraphOrigins {
public:
    static GraphOrigins make(const Facts& facts);

    bool any() const { return !rows_.empty(); }
    // The row of graph_node that says where the node was created which this one was a copy of at that time; kNoRow: not recorded.
    Row of_node(StringId process, std::int64_t node, TimeNs time) const;
    // The same for a kernel, at the time of its launch.
    Row of_kernel(const Trace& trace, Row kernel) const;
    // The nodes that this one waits for, of the same graph.
    std::span<const std::int64_t> waits_for(StringId process, std::int64_t node) const;
    // "kernel", "host", ...; "": not recorded.
    std::string_view kind(StringId process, std::int64_t node) const;
    // Dependencies that were not looked at, because there are too many.
    std::uint64_t ignored() const { return ignored_; }

private:
    Row last_before(StringId process, std::int64_t node, TimeNs time) const;
    void find_dependencies();

    const Trace* trace_ = nullptr;
    std::vector<Row> rows_;  // of graph_node, by process, node and time
    std::map<std::pair<StringId, std::int64_t>, std::vector<std::int64_t>> waits_for_;
    std::uint64_t ignored_ = 0;
};

}  // namespace gpuprof::facts
